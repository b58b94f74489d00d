in vec3 v_world, v_normal;
in vec2 v_uv;
in vec4 v_color;
flat in vec4 v_tint;

uniform vec4 u_base_color;
uniform sampler2D u_texture; // white if the material has none
uniform vec3 u_emissive;
uniform float u_plain; // 1: tints without materials
#ifdef CUT
uniform float u_cutoff; // there is nothing where alpha is below it
uniform float u_smooth; // 1: the edge is smoothed over a pixel by covering some of its samples
#endif

layout(location = 0) out vec4 o_color;

void main()
{
    vec4 material = u_base_color * v_color * texture(u_texture, v_uv);
#ifdef CUT
    float width = fwidth(material.a), inside = step(u_cutoff, material.a);
    if (u_smooth > 0.0 && width > 1e-4)
        inside = clamp((material.a - u_cutoff) / width + 0.5, 0.0, 1.0);
    if (inside == 0.0)
        discard;
    if (u_smooth > 0.0)
        material.a = inside;
#endif
    vec3 albedo = mix(material.rgb, vec3(0.8), u_plain);
    albedo = mix(albedo, mix(albedo * v_tint.rgb, v_tint.rgb, u_plain), v_tint.a);
    vec3 normal = normalize(gl_FrontFacing ? v_normal : -v_normal);
    vec3 color = shade(albedo, normal, v_world) + (1.0 - u_plain) * u_emissive;
#ifdef CUT
    o_color = vec4(fog(color, v_world), material.a); // how much is covered; not stored
#else
    o_color = vec4(fog(color, v_world), 1);
#endif
}

in vec3 v_world, v_normal;
in vec2 v_uv;
in vec4 v_color;
flat in vec4 v_tint;

uniform vec4 u_base_color;
uniform sampler2D u_texture; // white if the material has none
uniform float u_plain;       // 1: tints without materials

layout(location = 0) out vec4 o_color;

void main()
{
    vec4 material = u_base_color * v_color * texture(u_texture, v_uv);
    vec3 albedo = mix(material.rgb, vec3(0.8), u_plain);
    albedo = mix(albedo, mix(albedo * v_tint.rgb, v_tint.rgb, u_plain), v_tint.a);
    vec3 normal = normalize(gl_FrontFacing ? v_normal : -v_normal);
    o_color = vec4(fog(shade(albedo, normal, v_world), v_world), 1);
}

in vec3 v_world;

uniform float u_cell; // distance between lines; every tenth is stronger

layout(location = 0) out vec4 o_color;

// How much of the pixel a line covers. Lines fade out where they are closer than pixels.
float line(vec2 at, float width)
{
    vec2 pixel = fwidth(at), away = abs(fract(at - 0.5) - 0.5);
    vec2 cover = clamp((width + pixel * 0.5 - away) / max(pixel, vec2(1e-6)), 0.0, 1.0);
    cover *= clamp(1.0 - pixel * 2.0, 0.0, 1.0);
    return max(cover.x, cover.y);
}

void main()
{
    float lines = max(0.35 * line(v_world.xz / u_cell, 0.012), 0.6 * line(v_world.xz / (10.0 * u_cell), 0.004));
    vec3 albedo = mix(vec3(0.27, 0.25, 0.22), vec3(0.15, 0.14, 0.13), lines);
    o_color = vec4(fog(shade(albedo, vec3(0, 1, 0), v_world), v_world), 1);
}

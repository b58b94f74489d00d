in vec3 v_direction;

layout(location = 0) out vec4 o_color;

void main()
{
    vec3 direction = normalize(v_direction);
    float height = max(direction.y, 0.0);
    vec3 color = mix(HAZE, SKY * 0.9, 1.0 - exp(-4.0 * height));
    float sun = max(dot(direction, u_to_sun), 0.0);
    o_color = vec4(color + SUN * (0.25 * pow(sun, 64.0) + 0.05 * pow(sun, 8.0)), 1);
}

in vec3 v_world, v_normal;
in vec4 v_color;

uniform float u_unit; // a metre

layout(location = 0) out vec4 o_color;

const vec2 WINDOW = vec2(2.5, 3.3); // from a window to the next

// Tall windows above, shop windows at the ground. Some have their blinds drawn.
vec3 windows(vec3 wall, vec3 normal)
{
    vec2 at = vec2(dot(v_world.xz, vec2(normal.z, -normal.x)), v_world.y) / (u_unit * WINDOW), in_cell = fract(at) - 0.5;
    bool is_shop = at.y < 1.0;
    vec2 inside = (is_shop ? vec2(0.44, 0.34) : vec2(0.24, 0.29)) - abs(in_cell - vec2(0, is_shop ? -0.1 : 0.02));
    vec2 frame = inside + vec2(0.045, 0.035);
    float drawn = random(floor(at));
    vec3 glass = mix(vec3(0.035, 0.05, 0.07), vec3(0.16, 0.21, 0.27), drawn * drawn);
    vec3 color = mix(wall, 1.2 * wall + 0.05, area(min(frame.x, frame.y)));
    color = mix(color, glass, area(min(inside.x, inside.y)));
    return color * (is_shop ? 0.85 : 1.0);
}

void main()
{
    vec3 normal = normalize(v_normal), albedo = v_color.rgb;
    if (v_color.a > 0.5 && abs(normal.y) < 0.5)
        albedo = windows(0.72 * worn(vec2(v_world.x + v_world.z, v_world.y) / u_unit) * albedo, normal);
    albedo *= mix(0.7, 1.0, clamp(v_world.y / (1.2 * u_unit), 0.0, 1.0)); // little light arrives near the ground
    o_color = vec4(fog(shade(albedo, normal, v_world), v_world), 1);
}

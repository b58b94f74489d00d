in vec3 v_direction;

layout(location = 0) out vec4 o_color;

const vec3 ZENITH = vec3(0.10, 0.25, 0.56);

// How much thin clouds on a plane overhead cover. They fade out towards the horizon, where they would be closer than
// pixels.
float clouds(vec3 direction)
{
    vec2 at = direction.xz / (direction.y + 0.12);
    float cover = 0.55 * noise(0.9 * at) + 0.28 * noise(2.1 * at + 7.0) + 0.17 * noise(4.7 * at + 3.0);
    return smoothstep(0.55, 0.95, cover) * smoothstep(0.02, 0.3, direction.y);
}

void main()
{
    vec3 direction = normalize(v_direction);
    float height = max(direction.y, 0.0), sun = max(dot(direction, u_to_sun), 0.0);
    vec3 color = mix(ZENITH, horizon(direction), exp(-4.5 * height));
    if (direction.y > 0.02)
        color = mix(color, vec3(0.88, 0.86, 0.84), 0.75 * clouds(direction));
    sun *= sun;
    sun *= sun; // to the 4th
    o_color = vec4(color + SUN * (0.06 * sun + 0.20 * pow(sun, 16.0)), 1);
}

// Light of a sky and a low sun, and fog of the colour of the horizon. All colours are linear.
uniform vec3 u_eye;
uniform vec3 u_to_sun; // length 1
uniform mat4 u_shadow_from_world;
uniform float u_fog_density; // the fog lets through exp(-density * distance^2)
uniform sampler2DShadow u_shadow;

const vec3 SUN = vec3(1.00, 0.90, 0.74) * 1.9;
const vec3 SKY = vec3(0.31, 0.38, 0.49);
const vec3 EARTH = vec3(0.22, 0.20, 0.17);
const vec3 HAZE = vec3(0.62, 0.68, 0.73);

// The part of the sun's light that arrives: the mean of nine shadow map samples. Everything beside the map is lit, and so
// is what is nearer to the sun. What is beyond its depth gets the shadows of all that is in it.
float sunlight(vec3 world, float facing)
{
#ifdef NO_SHADOW
    return 1.0;
#else
    vec3 at = (u_shadow_from_world * vec4(world, 1)).xyz;
    if (any(lessThan(at, vec3(0))) || any(greaterThan(at.xy, vec2(1))))
        return 1.0;
    at.z = min(at.z, 1.0);
    float texel = 1.0 / float(textureSize(u_shadow, 0).x), lit = 0.0;
    at.z -= texel * (1.0 + 2.0 * (1.0 - facing));
    for (int x = -1; x <= 1; x++)
        for (int y = -1; y <= 1; y++)
            lit += texture(u_shadow, at + vec3(x, y, 0) * texel);
    return lit / 9.0;
#endif
}

vec3 shade(vec3 albedo, vec3 normal, vec3 world)
{
    float facing = max(dot(normal, u_to_sun), 0.0);
    vec3 ambient = mix(EARTH, SKY, 0.5 + 0.5 * normal.y);
    return albedo * (ambient + SUN * facing * (facing > 0.0 ? sunlight(world, facing) : 0.0));
}

// The sky at the horizon, and below it, brighter towards the sun. direction: length 1
vec3 horizon(vec3 direction)
{
    float sun = 0.5 + 0.5 * dot(direction, u_to_sun);
    return HAZE * (0.8 + 0.35 * sun * sun) + vec3(0.10, 0.05, 0.0) * sun * sun;
}

vec3 fog(vec3 color, vec3 world)
{
    vec3 away = world - u_eye;
    float squared = dot(away, away);
    return mix(horizon(away * inversesqrt(squared)), color, exp(-u_fog_density * squared));
}

uniform float u_unit; // a metre
uniform vec4 u_shape; // X of the kerb, Z of the first crossing, and of the last

const vec3 PAINT = vec3(0.62, 0.60, 0.56);

// A dashed line in the middle, and crossings every 60 m.
float markings(vec2 at)
{
    float across = abs(mod(at.y - u_shape.y / u_unit + 30.0, 60.0) - 30.0); // from the middle of the nearest crossing
    float bars = area(0.25 - abs(fract(at.x / 1.1) - 0.5)) * area(1.8 - across);
    float dashes = stroke(at.x, 0.07) * area(1.5 - abs(mod(at.y, 6.0) - 3.0)) * area(across - 3.5);
    return max(bars, max(dashes, stroke(across - 2.9, 0.12)));
}

vec3 ground(vec2 at)
{
    at /= u_unit;
    float kerb = u_shape.x / u_unit, outside = abs(at.x) - kerb;
    float patches = 0.92 + 0.16 * random(floor(vec2(at.x / 3.2, at.y / 9.0)));
    vec3 asphalt = vec3(0.125, 0.122, 0.118) * patches;
    float marked = area(-0.5 - outside) * step(abs(at.y), u_shape.z / u_unit);
    asphalt = mix(asphalt, PAINT, markings(at) * marked);
    asphalt *= 1.0 - 0.35 * stroke(outside + 0.2, 0.2); // gutter
    vec3 pavement = slabs(vec3(0.36, 0.32, 0.27), at.yx, vec2(0.9, 0.6));
    vec3 stone = vec3(0.47, 0.45, 0.42) * (1.0 - 0.4 * lines(vec2(at.y / 1.2), 0.012).x);
    vec3 color = mix(asphalt, stone, area(outside));
    return worn(at) * mix(color, pavement, area(outside - 0.3));
}

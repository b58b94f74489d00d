uniform float u_unit; // a metre
uniform vec4 u_shape; // radius of the round paving

const float SPOKES = 16.0, BAND = 5.5; // distance between dark circles

vec3 ground(vec2 at)
{
    at /= u_unit;
    float radius = length(at), edge = u_shape.x / u_unit, ring = floor(radius / BAND);
    float turn = atan(at.x, at.y) * SPOKES / 6.28318531;
    vec3 light = slabs(vec3(0.42, 0.37, 0.30), at, vec2(1.2, 0.8));
    vec3 warm = slabs(vec3(0.33, 0.235, 0.175), at, vec2(0.4, 0.2));
    bool is_warm = mod(ring + floor(turn), 2.0) < 0.5;
    vec3 color = is_warm ? warm : light;
    float away = abs(fract(turn - 0.5) - 0.5) * 6.28318531 / SPOKES * radius; // from the nearest spoke
    float bands = max(stroke(away, 0.22), stroke((fract(radius / BAND + 0.5) - 0.5) * BAND, 0.3));
    color = mix(color, vec3(0.17, 0.165, 0.16), bands);
    return worn(at) * mix(slabs(vec3(0.30, 0.285, 0.26), at, vec2(0.9, 0.6)), color, area(edge - radius));
}

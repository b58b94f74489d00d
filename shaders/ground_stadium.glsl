uniform float u_unit; // a metre
uniform vec4 u_shape; // half the length and half the width of the pitch, half the length and width of the stands

// The lines of a football pitch of 105 m, as large as this one is.
float markings(vec2 at, vec2 pitch)
{
    float scale = pitch.x / 52.5, width = 0.09 * max(scale, 0.5);
    vec2 edge = pitch - abs(at);
    float line = max(stroke(edge.x, width) * area(edge.y + width), stroke(edge.y, width) * area(edge.x + width));
    line = max(line, stroke(at.x, width) * area(edge.y));
    line = max(line, max(stroke(length(at) - 9.15 * scale, width), area(0.3 * scale - length(at))));
    vec2 box = vec2(16.5, 20.16) * scale, small = vec2(5.5, 9.16) * scale;
    float beside = abs(at.y);
    line = max(line, max(stroke(edge.x - box.x, width) * area(box.y - beside),
                         stroke(beside - box.y, width) * area(box.x - edge.x) * area(edge.x)));
    line = max(line, max(stroke(edge.x - small.x, width) * area(small.y - beside),
                         stroke(beside - small.y, width) * area(small.x - edge.x) * area(edge.x)));
    float spot = length(vec2(edge.x - 11.0 * scale, at.y));
    line = max(line, stroke(spot - 9.15 * scale, width) * area(edge.x - box.x));
    return max(line, area(0.25 * scale - spot));
}

vec3 ground(vec2 at)
{
    at /= u_unit;
    vec2 pitch = u_shape.xy / u_unit, stands = u_shape.zw / u_unit, edge = pitch - abs(at);
    float mown = floor(at.x * 9.0 / pitch.x), blades = 0.95 + 0.1 * random(floor(at * 3.0));
    blades = mix(1.0, blades, clamp(1.0 - 4.0 * fwidth(at.x), 0.0, 1.0));
    vec3 grass = mod(mown, 2.0) < 0.5 ? vec3(0.085, 0.20, 0.045) : vec3(0.115, 0.25, 0.06);
    vec3 color = mix(grass * blades, vec3(0.80, 0.82, 0.78), 0.9 * markings(at, pitch));
    color = mix(vec3(0.33, 0.155, 0.115), color, area(min(edge.x, edge.y) + 2.2));
    vec2 outside = abs(at) - stands;
    return mix(color, vec3(0.24, 0.23, 0.21), area(max(outside.x, outside.y)));
}

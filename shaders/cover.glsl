// How much of a pixel patterns cover. They fade out where they are finer than pixels.

// Lines at whole numbers, of a width in the same units.
vec2 lines(vec2 at, float width)
{
    vec2 pixel = fwidth(at), away = abs(fract(at - 0.5) - 0.5);
    vec2 cover = clamp((width + pixel * 0.5 - away) / max(pixel, vec2(1e-6)), 0.0, 1.0);
    return cover * clamp(1.0 - pixel * 2.0, 0.0, 1.0);
}

float grid(vec2 at, float width)
{
    vec2 cover = lines(at, width);
    return max(cover.x, cover.y);
}

// What lies inside: where `inside`, a distance to the edge, is above 0.
float area(float inside)
{
    return clamp(inside / max(fwidth(inside), 1e-6) + 0.5, 0.0, 1.0);
}

// A line at 0, of half a width on either side. It gets fainter where it is thinner than a pixel.
float stroke(float away, float width)
{
    float pixel = max(fwidth(away), 1e-6);
    return clamp((width + 0.5 * pixel - abs(away)) / pixel, 0.0, 1.0) * min(1.0, 4.0 * width / pixel);
}

// In [0, 1), another number for each cell.
float random(vec2 cell)
{
    vec3 p = fract(vec3(cell.xyx) * 0.1031);
    p += dot(p, p.yzx + 33.33);
    return fract((p.x + p.y) * p.z);
}

// Values of corners, blended over the cell.
float noise(vec2 at)
{
    vec2 cell = floor(at), f = fract(at), s = f * f * (3.0 - 2.0 * f);
    return mix(mix(random(cell), random(cell + vec2(1, 0)), s.x),
               mix(random(cell + vec2(0, 1)), random(cell + 1.0), s.x), s.y);
}

// The tone of a surface that is not quite even: stains, and grains of a few centimetres. at: in metres
float worn(vec2 at)
{
    float pixel = max(fwidth(at.x), fwidth(at.y));
    float grains = 0.14 * clamp(1.0 - 12.0 * pixel, 0.0, 1.0) * (noise(at * 17.0) - 0.5);
    return 1.0 + 0.24 * clamp(1.0 - 0.7 * pixel, 0.0, 1.0) * (noise(at * 0.7) - 0.5) + grains;
}

// Slabs with joints, none quite the colour of the next. size: of a slab
vec3 slabs(vec3 color, vec2 at, vec2 size)
{
    vec2 cell = at / size;
    cell.x += 0.5 * mod(floor(cell.y), 2.0);
    float faint = clamp(1.0 - 1.5 * max(fwidth(cell.x), fwidth(cell.y)), 0.0, 1.0);
    float tone = 1.0 + 0.22 * faint * (random(floor(cell)) - 0.5);
    return color * tone * (1.0 - 0.4 * grid(cell, 0.012));
}

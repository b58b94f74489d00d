uniform float u_cell; // distance between lines; every tenth is stronger

vec3 ground(vec2 at)
{
    float cover = max(0.35 * grid(at / u_cell, 0.012), 0.6 * grid(at / (10.0 * u_cell), 0.004));
    return worn(at / u_cell) * mix(slabs(vec3(0.29, 0.265, 0.23), at / u_cell, vec2(1.0)), vec3(0.15, 0.14, 0.13), cover);
}

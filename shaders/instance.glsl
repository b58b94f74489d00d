// Model to world: rotation about the vertical axis, scale, translation.
layout(location = 6) in vec4 i_position; // x, y, z, scale
layout(location = 7) in vec2 i_heading; // cosine and sine
layout(location = 8) in vec4 i_tint; // sRGB, and the strength of the tint

vec3 turn(vec3 v)
{
    return vec3(i_heading.x * v.x + i_heading.y * v.z, v.y, i_heading.x * v.z - i_heading.y * v.x);
}

vec3 to_world(vec3 p)
{
    return turn(p) * i_position.w + i_position.xyz;
}

// A quad over the part of the picture between two corners.
vec2 corner(int vertex, vec4 box)
{
    return vec2((vertex & 1) == 0 ? box.x : box.z, (vertex & 2) == 0 ? box.y : box.w);
}

layout(location = 0) uniform vec4 box;

void main()
{
    gl_Position = vec4(corner(gl_VertexID, box), 0.5, 1.0);
}

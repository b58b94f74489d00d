// One triangle over the whole picture, at the far plane.
uniform mat4 u_world_from_clip;

out vec3 v_direction;

void main()
{
    vec2 corner = vec2(gl_VertexID & 1, gl_VertexID >> 1) * 4.0 - 1.0;
    vec4 near = u_world_from_clip * vec4(corner, -1, 1), far = u_world_from_clip * vec4(corner, 1, 1);
    v_direction = far.xyz / far.w - near.xyz / near.w;
    gl_Position = vec4(corner, 1, 1);
}

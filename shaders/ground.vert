// A square around the camera; needs no vertex buffer.
uniform mat4 u_clip_from_world;
uniform vec2 u_center;
uniform float u_reach, u_height;

out vec3 v_world;

void main()
{
    vec2 corner = vec2(gl_VertexID & 1, gl_VertexID >> 1) * 2.0 - 1.0;
    v_world = vec3(u_center.x + corner.x * u_reach, u_height, u_center.y - corner.y * u_reach);
    gl_Position = u_clip_from_world * vec4(v_world, 1);
}

layout(location = 0) in vec3 a_position;
layout(location = 1) in vec4 a_normal;
layout(location = 2) in vec4 a_color; // sRGB, and 1 for walls with windows

uniform mat4 u_clip_from_world;

#ifndef DEPTH_ONLY
out vec3 v_world, v_normal;
out vec4 v_color;
#endif

void main()
{
    gl_Position = u_clip_from_world * vec4(a_position, 1);
#ifndef DEPTH_ONLY
    v_world = a_position;
    v_normal = a_normal.xyz;
    v_color = vec4(pow(a_color.rgb, vec3(2.2)), a_color.a);
#endif
}

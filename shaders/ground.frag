in vec3 v_world;

layout(location = 0) out vec4 o_color;

void main()
{
    o_color = vec4(fog(shade(ground(v_world.xz), vec3(0, 1, 0), v_world), v_world), 1);
}

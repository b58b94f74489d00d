flat in vec4 v_tint;

layout(location = 0) out vec4 o_color;

void main()
{
    o_color = vec4(mix(vec3(1.0, 0.55, 0.1), v_tint.rgb, v_tint.a), 1);
}

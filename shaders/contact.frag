in vec2 v_corner;

layout(location = 0) out vec4 o_color; // black, and how much of it

void main()
{
    float lit = min(dot(v_corner, v_corner), 1.0);
    o_color = vec4(vec3(0), 0.6 * (1.0 - lit) * (1.0 - lit));
}

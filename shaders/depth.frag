#ifdef CUT
in vec2 v_uv;
in vec4 v_color;

uniform vec4 u_base_color;
uniform sampler2D u_texture; // white if the material has none
uniform float u_cutoff;      // there is nothing where alpha is below it

void main()
{
    if (u_base_color.a * v_color.a * texture(u_texture, v_uv).a < u_cutoff)
        discard;
}
#else
void main()
{
}
#endif

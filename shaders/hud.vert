// Instanced rectangles of the head-up display. Pixels, origin at the top left.
layout(location = 0) in ivec4 i_edges; // left, top, right, bottom
layout(location = 1) in uvec2 i_shape; // letter: its cell plus 1, and 0; panel: 0 and the corner radius
layout(location = 2) in vec4 i_color;  // sRGB, not premultiplied

uniform vec2 u_size; // of the picture
uniform ivec2 u_cell;

out vec2 v_at;
flat out ivec4 v_edges;
flat out ivec2 v_texel; // the letter's first texel; below 0: a panel
flat out float v_radius;
flat out vec4 v_color;

void main()
{
    v_at = vec2((gl_VertexID & 1) == 0 ? i_edges.x : i_edges.z, (gl_VertexID & 2) == 0 ? i_edges.y : i_edges.w);
    v_edges = i_edges;
    uint cell = i_shape.x - 1u;
    v_texel = i_shape.x == 0u ? ivec2(-1) : u_cell * ivec2(cell % SHEET_COLUMNS, cell / SHEET_COLUMNS);
    v_radius = float(i_shape.y);
    v_color = i_color;
    gl_Position = vec4(v_at / u_size * vec2(2, -2) + vec2(-1, 1), 0, 1);
}

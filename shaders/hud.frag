in vec2 v_at;
flat in ivec4 v_edges;
flat in ivec2 v_texel;
flat in float v_radius;
flat in vec4 v_color;

uniform sampler2D u_sheet;

layout(location = 0) out vec4 o_color;

// How much of the pixel lies inside the rounded rectangle. Edges are whole pixels; a radius below half a pixel gives a
// sharp corner.
float panel()
{
    float radius = max(v_radius, 0.5);
    vec2 inside = min(v_at - vec2(v_edges.xy), vec2(v_edges.zw) - v_at);
    return clamp(radius + 0.5 - length(max(radius - inside, 0.0)), 0.0, 1.0);
}

// Blending sRGB bytes instead of light makes half covered pixels too dark, so light text would look too thin. Raises
// the coverage of light text.
float letter()
{
    float cover = texelFetch(u_sheet, v_texel + ivec2(v_at) - v_edges.xy, 0).r;
    return pow(cover, mix(1.0, 0.7, dot(v_color.rgb, vec3(0.2126, 0.7152, 0.0722))));
}

void main()
{
    float cover = v_texel.x < 0 ? panel() : letter();
    o_color = vec4(v_color.rgb, v_color.a * cover);
}

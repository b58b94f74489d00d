layout(location = 0) in vec3 a_position;
layout(location = 1) in vec4 a_normal;
layout(location = 2) in vec2 a_uv;
layout(location = 3) in vec4 a_color;
layout(location = 4) in uvec4 a_bones;
layout(location = 5) in vec4 a_weights;

#ifdef MORPH
layout(location = 9) in uvec2 a_deltas; // the first delta, and how many
uniform samplerBuffer u_deltas; // two texels a delta: position and weight, normal
uniform uint u_first_weight; // row of the weights in a palette

float morph_weight(uint weight)
{
    uint row = palette_begin() + u_first_weight + weight / 4u;
    return palette_row(row)[weight % 4u];
}

// Most weights are 0 most of the time.
void morph(inout vec3 position, inout vec3 normal)
{
    for (uint d = a_deltas.x; d < a_deltas.x + a_deltas.y; d++) {
        vec4 delta = texelFetch(u_deltas, int(2u * d));
        float weight = morph_weight(uint(delta.w));
        if (weight == 0.0)
            continue;
        position += weight * delta.xyz;
        normal += weight * texelFetch(u_deltas, int(2u * d + 1u)).xyz;
    }
    normal *= inversesqrt(max(dot(normal, normal), 1e-20)); // longer ones would count more between vertices
}
#endif

#ifdef APPEARANCES
// What of a_color is what: anim/appearance.h.
// [appearance][region]: linear colour, and how far a vertex with all the slack moves inwards; below 0: not worn
uniform samplerBuffer u_appearances;
uniform int u_regions;

vec4 appearance_of_region()
{
    return texelFetch(u_appearances, int(i_palette_and_appearance >> 22u) * u_regions + int(a_color.a * 255.0 + 0.5));
}
#endif

#ifdef EIGHT
layout(location = 10) in uvec4 a_more_bones;
layout(location = 11) in vec4 a_more_weights; // descending, and below the others
uniform uint u_influences; // 4 or 8

Bone blend_eight()
{
    Bone bone = blend_bones(a_bones, a_weights);
    uint first = palette_begin();
    float scale = 1.0 / dot(a_weights, vec4(1));
    if (u_influences == 4u)
        return Bone(scale * bone.x, scale * bone.y, scale * bone.z);
    for (int i = 0; i < 4 && a_more_weights[i] > 0.0; i++)
        add_bone(bone, first, a_more_bones[i], a_more_weights[i]);
    return bone;
}
#endif

uniform mat4 u_clip_from_world;

#ifndef DEPTH_ONLY
out vec3 v_world, v_normal;
flat out vec4 v_tint;
#endif
#if !defined(DEPTH_ONLY) || defined(CUT)
out vec2 v_uv;
out vec4 v_color;
#endif

void main()
{
    vec3 position = a_position, normal = a_normal.xyz;
#ifdef APPEARANCES
    vec4 appearance = appearance_of_region();
    position -= a_color.g * appearance.a * normal;
#endif
#ifdef MORPH
    morph(position, normal);
#endif
#ifdef EIGHT
    Bone bone = blend_eight();
#else
    Bone bone = blend_bones(a_bones, a_weights);
#endif
    vec3 world = to_world(skin_point(bone, position));
    gl_Position = u_clip_from_world * vec4(world, 1);
#ifdef APPEARANCES
    if (appearance.a < 0.0)
        gl_Position = vec4(2, 2, 2, 1); // outside of the picture
#endif
#ifndef DEPTH_ONLY
    v_world = world;
    v_normal = turn(skin_normal(bone, normal));
    v_tint = vec4(pow(i_tint.rgb, vec3(2.2)), i_tint.a);
#endif
#if !defined(DEPTH_ONLY) || defined(CUT)
    v_uv = a_uv;
#ifdef APPEARANCES
    v_color = vec4(a_color.r * appearance.rgb, 1);
#else
    v_color = a_color;
#endif
#endif
}

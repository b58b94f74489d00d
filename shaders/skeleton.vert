// Bones as lines: each end is a joint's bind position in mesh space, moved by its palette entry.
layout(location = 0) in vec3 a_position;
layout(location = 4) in uint a_bone;

uniform mat4 u_clip_from_world;

#ifndef DEPTH_ONLY
flat out vec4 v_tint;
#endif

void main()
{
    Bone bone = Bone(vec4(0), vec4(0), vec4(0));
    add_bone(bone, palette_begin(), a_bone, 1.0);
    gl_Position = u_clip_from_world * vec4(to_world(skin_point(bone, a_position)), 1);
#ifndef DEPTH_ONLY
    v_tint = vec4(pow(i_tint.rgb, vec3(2.2)), i_tint.a);
#endif
}

layout(location = 0) in vec3 a_position;
layout(location = 1) in vec4 a_normal;
layout(location = 2) in vec2 a_uv;
layout(location = 3) in vec4 a_color;
layout(location = 4) in uvec4 a_bones;
layout(location = 5) in vec4 a_weights;

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
    Bone bone = blend_bones(a_bones, a_weights);
    vec3 world = to_world(skin_point(bone, a_position));
    gl_Position = u_clip_from_world * vec4(world, 1);
#ifndef DEPTH_ONLY
    v_world = world;
    v_normal = turn(skin_normal(bone, a_normal.xyz));
    v_tint = vec4(pow(i_tint.rgb, vec3(2.2)), i_tint.a);
#endif
#if !defined(DEPTH_ONLY) || defined(CUT)
    v_uv = a_uv;
    v_color = a_color;
#endif
}

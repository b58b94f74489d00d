// A square on the ground under the first bone of a character, where little of the sky's light arrives.
uniform mat4 u_clip_from_world;
uniform float u_height, u_footprint; // footprint: half a side in model units
#if !defined(PALETTE_QUAT) && !defined(PALETTE_QUAT16)
uniform samplerBuffer u_places; // of each bone in the bind pose
#endif

out vec2 v_corner;

void main()
{
    Bone bone = Bone(vec4(0), vec4(0), vec4(0));
    add_bone(bone, palette_begin(), 0u, 1.0);
    vec3 place = to_world(skin_point(bone, texelFetch(u_places, 0).xyz));
    float reach = u_footprint * i_position.w;
    v_corner = vec2(gl_VertexID & 1, gl_VertexID >> 1) * 2.0 - 1.0;
    gl_Position = u_clip_from_world * vec4(place.x + v_corner.x * reach, u_height, place.z - v_corner.y * reach, 1);
}

// Copies one sample of each pixel, colour and depth as they are stored; the bottom row becomes the last one.

layout(local_size_x = 8, local_size_y = 8) in;

layout(binding = 0) uniform sampler2DMS u_colour;
layout(binding = 1) uniform sampler2DMS u_depth;
layout(binding = 0, rgba8) writeonly uniform image2D u_out_colour;
layout(binding = 1, r32f) writeonly uniform image2D u_out_depth;
layout(location = 0) uniform int u_sample;

void main()
{
    ivec2 size = imageSize(u_out_depth), from = ivec2(gl_GlobalInvocationID.xy), to = ivec2(from.x, size.y - 1 - from.y);
    if (from.x < size.x && from.y < size.y) {
        imageStore(u_out_colour, to, texelFetch(u_colour, from, u_sample));
        imageStore(u_out_depth, to, texelFetch(u_depth, from, u_sample));
    }
}

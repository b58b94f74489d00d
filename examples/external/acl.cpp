// Poses of ACL, the Animation Compression Library (https://github.com/nfrechette/acl), for `throng bench --external`.
//
//     acl COUNT [CLIP.txt...]
//
// COUNT characters play the clips in turns, each from a moment of its own. ACL compresses them with its default
// settings and an error of at most 0.1 mm, 3 cm from each joint (Throng's default); clips are in metres. A clip is
// text: the number of joints, of samples, and of samples a second; the parent of each joint (-1: none), parents first;
// then for each sample and joint a rotation (x y z w), a translation and a scale. Without one, a tree of 64 joints
// makes up a motion of 2 s.
//
// ACL decompresses local transforms and has nothing behind that. "skinning" goes on with a loop of this file's own, in
// ACL's math library: it shows what a whole pose costs if decompression is ACL's, and is not ACL's own figure.
//
// Both libraries are headers only (ACL 2.1, RTM is its math library):
//
//     c++ -std=c++17 -O3 -DNDEBUG -march=native -DACL_USE_POPCOUNT -I $ACL/includes -I $RTM/includes acl.cpp -o acl
//     throng bench --filter '^pose/|^external/' --external './acl 1000'
#include "program.h"

#include <acl/compression/compress.h>
#include <acl/compression/track_array.h>
#include <acl/compression/transform_error_metrics.h>
#include <acl/core/ansi_allocator.h>
#include <acl/decompression/decompress.h>
#include <rtm/matrix3x4f.h>
#include <rtm/qvvf.h>

#include <fstream>
#include <memory>

namespace
{

struct Source {
    uint32_t joints, samples;
    float rate;
    std::vector<int> parents;
    std::vector<rtm::qvvf> poses; // [sample][joint]
};

using Decompression = acl::decompression_context<acl::default_transform_decompression_settings>;

struct Clip {
    std::vector<int> parents;
    acl::compressed_tracks *tracks;
    Decompression context;
};

struct Crowd {
    acl::ansi_allocator allocator;
    std::vector<std::unique_ptr<Clip>> clips;
    size_t count, joints;
    std::vector<rtm::qvvf> locals; // of each character: what "decompression" writes
    std::vector<rtm::matrix3x4f> models, inverse_bind, palettes;
};

// Where decompressed transforms go.
struct Writer : acl::track_writer {
    rtm::qvvf *out;
    void RTM_SIMD_CALL write_rotation(uint32_t joint, rtm::quatf_arg0 value)
    {
        out[joint].rotation = value;
    }
    void RTM_SIMD_CALL write_translation(uint32_t joint, rtm::vector4f_arg0 value)
    {
        out[joint].translation = value;
    }
    void RTM_SIMD_CALL write_scale(uint32_t joint, rtm::vector4f_arg0 value)
    {
        out[joint].scale = value;
    }
};

// ---- clips ----

Source read(const char *path)
{
    std::ifstream file(path);
    Source s{};
    file >> s.joints >> s.samples >> s.rate;
    if (!file || s.joints == 0 || s.joints > 10000 || s.samples < 2 || s.samples > 100000 || !(s.rate > 0))
        external::refuse(std::string("cannot read ") + path);
    s.parents.resize(s.joints);
    for (int &parent : s.parents)
        file >> parent;
    for (size_t i = 0; i < size_t(s.joints) * s.samples; i++) {
        float n[10];
        for (float &number : n)
            file >> number;
        s.poses.push_back(rtm::qvv_set(rtm::quat_normalize(rtm::quat_set(n[0], n[1], n[2], n[3])),
                                       rtm::vector_set(n[4], n[5], n[6]), rtm::vector_set(n[7], n[8], n[9])));
    }
    if (!file)
        external::refuse(std::string(path) + " ends too early");
    return s;
}

// Each joint swings about an axis of its own, 0.1 m from its parent.
Source make_up()
{
    Source s{64, 61, 30, {}, {}};
    for (int joint = 0; joint < 64; joint++)
        s.parents.push_back(joint == 0 ? -1 : (joint - 1) * 3 / 4);
    for (uint32_t sample = 0; sample < s.samples; sample++)
        for (uint32_t joint = 0; joint < s.joints; joint++) {
            const float turn = 6.2831853F * static_cast<float>(sample) / static_cast<float>(s.samples - 1);
            const float phase = static_cast<float>(joint);
            const rtm::vector4f axis =
                rtm::vector_normalize3(rtm::vector_set(std::sin(phase), std::cos(phase), 0.5F), rtm::vector_zero());
            s.poses.push_back(rtm::qvv_set(rtm::quat_from_axis_angle(axis, 0.4F * std::sin(turn + phase)),
                                           rtm::vector_set(0.0F, 0.1F, 0.0F), rtm::vector_set(1.0F)));
        }
    return s;
}

std::unique_ptr<Clip> compress(acl::iallocator &allocator, const Source &s)
{
    acl::track_array_qvvf tracks(allocator, s.joints);
    for (uint32_t joint = 0; joint < s.joints; joint++) {
        acl::track_desc_transformf desc;
        desc.output_index = joint;
        desc.parent_index = s.parents[joint] < 0 ? acl::k_invalid_track_index : static_cast<uint32_t>(s.parents[joint]);
        desc.precision = 0.0001F;
        desc.shell_distance = 0.03F;
        acl::track_qvvf track = acl::track_qvvf::make_reserve(desc, allocator, s.samples, s.rate);
        for (uint32_t sample = 0; sample < s.samples; sample++)
            track[sample] = s.poses[size_t(sample) * s.joints + joint];
        tracks[joint] = std::move(track);
    }
    acl::qvvf_transform_error_metric metric;
    acl::compression_settings settings = acl::get_default_compression_settings();
    settings.error_metric = &metric;
    acl::output_stats stats;
    auto clip = std::make_unique<Clip>();
    clip->parents = s.parents;
    const acl::error_result error = acl::compress_track_list(allocator, tracks, settings, clip->tracks, stats);
    if (error.any() || !clip->context.initialize(*clip->tracks))
        external::refuse(std::string("ACL cannot compress: ") + error.c_str());
    return clip;
}

// ---- poses ----

void decompress(Crowd &crowd, size_t c, double time_s, rtm::qvvf *locals)
{
    Clip &clip = *crowd.clips[c % crowd.clips.size()];
    Writer writer;
    writer.out = locals;
    const double duration_s = clip.tracks->get_finite_duration();
    clip.context.seek(static_cast<float>(external::clip_time(c, time_s, duration_s)),
                      acl::sample_rounding_policy::none);
    clip.context.decompress_tracks(writer);
}

void resolve(Crowd &crowd, size_t c)
{
    const std::vector<int> &parents = crowd.clips[c % crowd.clips.size()]->parents;
    rtm::matrix3x4f *palette = &crowd.palettes[c * crowd.joints];
    for (size_t j = 0; j < crowd.joints; j++) {
        const rtm::matrix3x4f local = rtm::matrix_from_qvv(crowd.locals[j]);
        crowd.models[j] =
            parents[j] < 0 ? local : rtm::matrix_mul(local, crowd.models[static_cast<size_t>(parents[j])]);
        palette[j] = rtm::matrix_mul(crowd.inverse_bind[j], crowd.models[j]);
    }
}

void decompress_all(Crowd &crowd, double time_s)
{
    for (size_t c = 0; c < crowd.count; c++)
        decompress(crowd, c, time_s, &crowd.locals[c * crowd.joints]);
}

void skin_all(Crowd &crowd, double time_s)
{
    for (size_t c = 0; c < crowd.count; c++) {
        decompress(crowd, c, time_s, crowd.locals.data());
        resolve(crowd, c);
    }
}

void make(Crowd &crowd, char **clips, int clip_count)
{
    for (int i = 0; i < clip_count; i++)
        crowd.clips.push_back(compress(crowd.allocator, read(clips[i])));
    if (clip_count == 0)
        crowd.clips.push_back(compress(crowd.allocator, make_up()));
    crowd.joints = crowd.clips[0]->parents.size();
    for (const auto &clip : crowd.clips)
        if (clip->parents != crowd.clips[0]->parents)
            external::refuse("clips of different skeletons");
    crowd.locals.resize(crowd.count * crowd.joints);
    crowd.models.resize(crowd.joints);
    crowd.palettes.resize(crowd.count * crowd.joints);
    crowd.inverse_bind.assign(crowd.joints, rtm::matrix_identity());
    decompress(crowd, 0, 0, crowd.locals.data());
    resolve(crowd, 0);
    for (size_t j = 0; j < crowd.joints; j++)
        crowd.inverse_bind[j] = rtm::matrix_inverse(crowd.models[j]);
}

// One element of each character.
template <class T> uint64_t checksum_of(const std::vector<T> &elements, size_t per_character)
{
    uint64_t sum = 0;
    for (size_t at = 0, c = 0; at + per_character <= elements.size(); at += per_character, c++)
        external::add_to(sum, elements[at + c % per_character]);
    return sum;
}

} // namespace

int main(int argc, char **argv)
{
    Crowd crowd;
    crowd.count = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 0;
    if (crowd.count == 0)
        external::refuse("acl COUNT [CLIP.txt...]");
    make(crowd, argv + 2, argc - 2);
    const uint64_t bones = crowd.count * crowd.joints;
    return external::serve(
        "acl",
        {{"decompression", "Only local transforms, 48 bytes a joint. No model space, no palettes: ACL has none.",
          crowd.count, bones, [&](double time_s) { decompress_all(crowd, time_s); },
          [&] { return checksum_of(crowd.locals, crowd.joints); }},
         {"skinning", "ACL's decompression, then a plain loop of the adapter's own in RTM: model space, 3x4 palettes.",
          crowd.count, bones, [&](double time_s) { skin_all(crowd, time_s); },
          [&] { return checksum_of(crowd.palettes, crowd.joints); }}});
}

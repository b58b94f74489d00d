// Poses of ozz-animation (https://github.com/guillaumeblanc/ozz-animation), for `throng bench --external`.
//
//     ozz_animation COUNT SKELETON.ozz ANIMATION.ozz...
//
// COUNT characters play the animations in turns, each from a moment of its own, as ozz's sample "multithread" does on
// one of its threads: every character has a sampling context, which is what makes playing forward fast. Local and
// model-space transforms are in scratch memory that all characters share, which helps ozz.
//
// Build ozz 0.16 with its own flags and this processor's instructions, then this file with the same ones. OZZ is its
// folder.
//
//     cmake -S $OZZ -B $OZZ/build -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS=-march=native -Dozz_build_tools=OFF
//         -Dozz_build_samples=OFF -Dozz_build_howtos=OFF -Dozz_build_tests=OFF
//     cmake --build $OZZ/build
//     c++ -std=c++17 -O3 -DNDEBUG -march=native -I $OZZ/include ozz_animation.cpp -o ozz_animation
//         $OZZ/build/src/animation/runtime/libozz_animation_r.a $OZZ/build/src/base/libozz_base_r.a
//
// Then, with the skeleton of its media/ and the same motion as a model:
//
//     throng bench --filter '^pose/|^external/' --model skeleton.fbx --animation walk.fbx
//         --external './ozz_animation 1000 pab_skeleton.ozz pab_walk.ozz'
#include "program.h"

#include <ozz/animation/runtime/animation.h>
#include <ozz/animation/runtime/local_to_model_job.h>
#include <ozz/animation/runtime/sampling_job.h>
#include <ozz/animation/runtime/skeleton.h>
#include <ozz/base/io/archive.h>
#include <ozz/base/io/stream.h>
#include <ozz/base/maths/simd_math.h>
#include <ozz/base/maths/soa_transform.h>

#include <memory>

namespace
{

using ozz::math::Float4x4;
using ozz::math::SoaTransform;

struct Character {
    const ozz::animation::Animation *animation;
    ozz::animation::SamplingJob::Context context;
};

struct Crowd {
    ozz::animation::Skeleton skeleton;
    std::vector<std::unique_ptr<ozz::animation::Animation>> animations;
    std::vector<std::unique_ptr<Character>> characters;
    std::vector<SoaTransform> locals; // of each character: what "sampling" writes
    std::vector<SoaTransform> scratch;
    std::vector<Float4x4> models, inverse_bind, palettes;
};

template <class T> void load(const char *path, T &out)
{
    ozz::io::File file(path, "rb");
    if (!file.opened())
        external::refuse(std::string("cannot open ") + path);
    ozz::io::IArchive archive(&file);
    if (!archive.TestTag<T>())
        external::refuse(std::string(path) + " is of another kind or version");
    archive >> out;
}

void sample(Crowd &crowd, size_t c, double time_s, SoaTransform *locals)
{
    Character &character = *crowd.characters[c];
    const double duration_s = character.animation->duration();
    ozz::animation::SamplingJob job;
    job.animation = character.animation;
    job.context = &character.context;
    job.ratio = static_cast<float>(external::clip_time(c, time_s, duration_s) / duration_s);
    job.output = {locals, crowd.scratch.size()};
    if (!job.Run())
        external::refuse("sampling failed");
}

void resolve(Crowd &crowd, size_t c)
{
    ozz::animation::LocalToModelJob job;
    job.skeleton = &crowd.skeleton;
    job.input = {crowd.scratch.data(), crowd.scratch.size()};
    job.output = {crowd.models.data(), crowd.models.size()};
    if (!job.Run())
        external::refuse("resolving failed");
    Float4x4 *palette = &crowd.palettes[c * crowd.models.size()];
    for (size_t j = 0; j < crowd.models.size(); j++)
        palette[j] = crowd.models[j] * crowd.inverse_bind[j];
}

void sample_all(Crowd &crowd, double time_s)
{
    for (size_t c = 0; c < crowd.characters.size(); c++)
        sample(crowd, c, time_s, &crowd.locals[c * crowd.scratch.size()]);
}

void skin_all(Crowd &crowd, double time_s)
{
    for (size_t c = 0; c < crowd.characters.size(); c++) {
        sample(crowd, c, time_s, crowd.scratch.data());
        resolve(crowd, c);
    }
}

void make(Crowd &crowd, size_t count, char **animations, int animation_count)
{
    const size_t joints = static_cast<size_t>(crowd.skeleton.num_joints());
    for (int a = 0; a < animation_count; a++) {
        crowd.animations.push_back(std::make_unique<ozz::animation::Animation>());
        load(animations[a], *crowd.animations.back());
        if (crowd.animations.back()->num_tracks() != crowd.skeleton.num_joints())
            external::refuse(std::string(animations[a]) + " is of another skeleton");
    }
    for (size_t c = 0; c < count; c++) {
        crowd.characters.push_back(std::make_unique<Character>());
        crowd.characters.back()->animation = crowd.animations[c % crowd.animations.size()].get();
        crowd.characters.back()->context.Resize(crowd.skeleton.num_joints());
    }
    const auto rest = crowd.skeleton.joint_rest_poses();
    crowd.scratch.assign(rest.begin(), rest.end());
    crowd.locals.resize(count * crowd.scratch.size());
    crowd.models.resize(joints);
    crowd.palettes.resize(count * joints);
    crowd.inverse_bind.assign(joints, Float4x4::identity());
    resolve(crowd, 0);
    for (size_t j = 0; j < joints; j++)
        crowd.inverse_bind[j] = Invert(crowd.models[j]);
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
    if (argc < 4)
        external::refuse("ozz_animation COUNT SKELETON.ozz ANIMATION.ozz...");
    const size_t count = std::strtoul(argv[1], nullptr, 10);
    Crowd crowd;
    load(argv[2], crowd.skeleton);
    make(crowd, count, argv + 3, argc - 3);
    const uint64_t bones = count * crowd.models.size();
    return external::serve(
        "ozz-animation",
        {{"skinning", "Sampling, local to model, skinning matrices of 16 floats: the whole way from keys to palettes.",
          count, bones, [&](double time_s) { skin_all(crowd, time_s); },
          [&] { return checksum_of(crowd.palettes, crowd.models.size()); }},
         {"sampling", "Only local transforms, 4 joints to an SoA element of 160 bytes. No model space, no palettes.",
          count, bones, [&](double time_s) { sample_all(crowd, time_s); },
          [&] { return checksum_of(crowd.locals, crowd.scratch.size()); }}});
}

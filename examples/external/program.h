// The program's side of `throng bench --external`, for programs in C++17: docs/reference/external.md has the protocol.
#ifndef EXTERNAL_PROGRAM_H
#define EXTERNAL_PROGRAM_H

#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <string>
#include <vector>

namespace external
{

struct Entry {
    std::string name, description; // without quotation marks and backslashes
    uint64_t characters, bones;    // bones: of all characters
    std::function<void(double time_s)> pose;
    std::function<uint64_t()> checksum; // of what pose() has written
};

// Ends the program, with the reason instead of a description.
[[noreturn]] inline void refuse(const std::string &why)
{
    std::printf("{\"error\":\"%s\"}\n", why.c_str());
    std::exit(1);
}

// Where a character is in a clip: all play the clips at the same speed, each from a moment of its own.
inline double clip_time(uint64_t character, double time_s, double duration_s)
{
    const double phase = std::fmod(static_cast<double>(character) * 0.6180339887498949, 1);
    return std::fmod(time_s + phase * duration_s, duration_s);
}

// Adds the bytes of something, such as a matrix, to a checksum.
template <class T> void add_to(uint64_t &checksum, const T &value)
{
    unsigned char bytes[sizeof(T)];
    std::memcpy(bytes, &value, sizeof(T));
    for (const unsigned char byte : bytes)
        checksum = (checksum ^ byte) * 1099511628211u; // FNV-1a
}

inline void describe(const char *program, const std::vector<Entry> &entries)
{
    std::printf("{\"throng_external\":1,\"program\":\"%s\",\"entries\":[", program);
    for (const Entry &e : entries)
        std::printf("%s{\"name\":\"%s\",\"characters\":%llu,\"bones\":%llu,\"description\":\"%s\"}",
                    &e == entries.data() ? "" : ",", e.name.c_str(), static_cast<unsigned long long>(e.characters),
                    static_cast<unsigned long long>(e.bones), e.description.c_str());
    std::printf("]}\n");
    std::fflush(stdout);
}

// One thread, so its CPU time is that of the process.
inline void answer(const Entry &e, uint64_t first, uint64_t frames)
{
    const auto begin = std::chrono::steady_clock::now();
    const std::clock_t cpu = std::clock();
    for (uint64_t i = 0; i < frames; i++)
        e.pose(static_cast<double>(first + i) / 60);
    const std::clock_t cpu_end = std::clock();
    const std::chrono::nanoseconds real = std::chrono::steady_clock::now() - begin;
    std::printf("{\"real_ns\":%lld,\"cpu_ns\":%.0f,\"checksum\":\"%016llx\"}\n", static_cast<long long>(real.count()),
                1e9 / CLOCKS_PER_SEC * static_cast<double>(cpu_end - cpu),
                static_cast<unsigned long long>(e.checksum()));
    std::fflush(stdout);
}

// Describes the program and answers requests until there are no more. For main().
inline int serve(const char *program, const std::vector<Entry> &entries)
{
    char line[256], name[32];
    unsigned long long first, frames;
    describe(program, entries);
    while (std::fgets(line, sizeof line, stdin)) {
        if (std::sscanf(line, "{\"entry\":\"%31[^\"]\",\"first\":%llu,\"frames\":%llu}", name, &first, &frames) != 3)
            refuse("a request that this program does not know");
        for (const Entry &e : entries)
            if (e.name == name)
                answer(e, first, frames);
    }
    return 0;
}

} // namespace external

#endif

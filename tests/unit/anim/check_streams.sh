#!/bin/sh
# Whether the kernels that store past the caches do so, in machine code: nothing else shows it but the time, and a
# compiler may think that it makes no difference.
#
#   check_streams.sh OBJDUMP LIBRARY
set -eu
LC_ALL=C "$1" -d --no-show-raw-insn "$2" | awk '
    /^[0-9a-f]+ </ { name = $2; gsub(/[<>:]|\..*/, "", name) }
    /^[^ ]*pose_.*file format/ { kernel = $1; sub(/\.c\.o:.*/, "", kernel) }
    /\tv?movnt/ && !seen[kernel, name]++ { found[name]++ }
    END {
        split("stream_f32 stream_quat stream_quat16 fill_streamed stream_lines", wanted)
        for (i in wanted)
            if (found[wanted[i]] != 3) {
                printf "%s: streams in %d kernels, not in those of SSE4, AVX2 and AVX-512\n", wanted[i], found[wanted[i]]
                bad = 1
            }
        exit bad
    }'

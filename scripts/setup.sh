# For the other scripts to source: what to install, and how to build. POSIX sh.

root=$(dirname "$(dirname "$(readlink -f "$0")")")

build_packages="gcc cmake ninja-build pkg-config libassimp-dev libcglm-dev libjansson-dev libxxhash-dev"
build_packages="$build_packages libglfw3-dev libmeshoptimizer-dev libstb-dev python3-glad fonts-dejavu-core"
build_packages="$build_packages libmicrohttpd-dev libsystemd-dev libseccomp-dev zlib1g-dev libxml2-dev libjs-chart.js"
# Draco, which some glTF files are compressed with, and its language.
build_packages="$build_packages libdraco-dev g++"
# Textures in WebP.
build_packages="$build_packages libwebp-dev"
# An OpenGL that needs no GPU, for `throng render` on a server.
build_packages="$build_packages libegl1 libgl1-mesa-dri"
# For tests: a judge of topologies, a linker that is fast, a display that needs no screen, a browser, OpenMP to compare with, MPI, films,
# and judges of documents, metrics and manual pages.
test_packages="$build_packages libcriterion-dev libhwloc-dev assimp-testmodels lld xvfb xauth xdotool chromium zsh"
test_packages="$test_packages libopengl-dev libgl-dev openmpi-bin libopenmpi-dev ffmpeg libbenchmark-tools"
test_packages="$test_packages python3-scipy python3-jsonschema python3-yaml prometheus man-db mandoc"
# A second compiler, with its sanitizers and its OpenMP.
clang_packages="clang libclang-rt-dev libomp-dev"
# To build and judge Debian packages.
package_packages="debhelper dpkg-dev lintian"
# What the preset arm64 needs on a machine of another kind: a cross compiler, an emulator, and libraries to link.
arm64_packages="cmake ninja-build pkg-config gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user"
arm64_packages="$arm64_packages libcglm-dev:arm64 libjansson-dev:arm64 libxxhash-dev:arm64"

say() {
    echo "$(basename "$0"): $*" >&2
}

# Sets as_root: what to put before a command that takes root. $*: what for.
find_root() {
    as_root=
    [ "$(id -u)" != 0 ] || return 0
    as_root=sudo
    command -v sudo >/dev/null || {
        say "neither root nor sudo to install: $*"
        exit 4
    }
}

# Installs those of the named Debian packages that are missing. Elsewhere it names them and goes on: they may be there
# under other names.
install_packages() {
    if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
        say "this is not Debian; the build needs the equivalents of: $*"
        return
    fi
    missing=
    for package in "$@"; do
        # A line for each architecture that it is known for.
        dpkg-query -W -f='${Status}\n' "$package" 2>/dev/null | grep -qx "install ok installed" ||
            missing="$missing $package"
    done
    [ -n "$missing" ] || return 0

    find_root "$missing"
    say "installing:$missing"
    $as_root apt-get update -q >&2
    # shellcheck disable=SC2086 # a list
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $missing >&2
}

# Installs what the preset arm64 needs. Only on Debian: it has all architectures in one archive, while others keep them
# apart, so that apt-get would not find its lists from then on.
install_arm64() {
    if ! grep -qx ID=debian /etc/os-release; then
        say "this is not Debian; the preset arm64 needs the equivalents of: $arm64_packages"
        return 1
    fi
    if ! dpkg --print-foreign-architectures | grep -qx arm64; then
        find_root "the architecture arm64"
        $as_root dpkg --add-architecture arm64 || return 1
    fi
    # shellcheck disable=SC2086 # a list
    install_packages $arm64_packages
}

# Hides from glibc, and so from the kernels and from libm, what a CPU with the instruction set $THRONG_TEST_ISA lacks, and
# has the software renderer compute as there. check_kernels sees to it that this works.
limit_isa() {
    hide=
    case ${THRONG_TEST_ISA:-avx512} in
    avx512) return ;;
    avx2) ;;
    sse4) hide=,-AVX2,-AVX,-FMA,-FMA4,-F16C ;;
    scalar) hide=,-AVX2,-AVX,-FMA,-FMA4,-F16C,-SSE4_2,-SSE4_1 ;;
    *)
        say "THRONG_TEST_ISA is scalar, sse4, avx2 or avx512, not '$THRONG_TEST_ISA'"
        exit 2
        ;;
    esac
    unset LP_NATIVE_VECTOR_WIDTH GALLIUM_OVERRIDE_CPU_CAPS # of another limit before
    export THRONG_TEST_ISA GLIBC_TUNABLES="glibc.cpu.hwcaps=-AVX512F,-AVX512BW,-AVX512DQ,-AVX512VL$hide"
    if [ "$THRONG_TEST_ISA" = avx2 ]; then
        export LP_NATIVE_VECTOR_WIDTH=256
    else
        export GALLIUM_OVERRIDE_CPU_CAPS=sse4.1
    fi
    # Mesa would take what it compiled for another CPU.
    mkdir -p "$root/build"
    export MESA_SHADER_CACHE_DIR="$root/build/shaders-$THRONG_TEST_ISA"
}

# Says that a preset is being built, once that takes a while. When there is nothing to do it takes less.
say_soon() {
    sleep 2 >/dev/null 2>&1
    say "building $preset, which takes minutes where much is new (tail -f $log)"
}

# Configures (once) and builds a preset, or of it the targets named. Quiet unless it takes long or fails.
build() {
    preset=$1
    shift
    log=$root/build/$preset.log
    mkdir -p "$root/build"
    say_soon &
    sayer=$!
    if ! { (cd "$root" && cmake --preset "$preset") &&
        cmake --build "$root/build/$preset" ${1:+--target} "$@"; } >"$log" 2>&1; then
        kill "$sayer" 2>/dev/null || true
        tail -n 40 "$log" >&2
        say "building $preset failed; the whole log: $log"
        exit 4
    fi
    kill "$sayer" 2>/dev/null || true
}

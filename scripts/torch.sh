#!/bin/sh
# What `stampmill train` trains with, a Python with torch and transformers, and `stampmill-torch`, which draws on GPUs: fetches
# both with pip into folders of their own and builds engines/torch against libtorch. A second run does nothing.
#   torch.sh              torch for the CPU: 0.6 GB to fetch, 1.5 GB on disk
#   torch.sh --gpu        with all that it needs on an NVIDIA GPU: 2.5 GB more to fetch
# $CACHE/torch/site     PyPI's torch, unpacked             $CACHE/torch/target   build output
# $CACHE/torch/python   transformers, and stand-ins        $CACHE/torch/bin      the engine
set -eu
cd "$(dirname "$0")/.."
: "${CACHE:=${STAMPMILL_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/stampmill}}"
home=$CACHE/torch
version=2.11.0 # what tch =0.24 is made for
gpu=""
for flag in "$@"; do
    case $flag in
    --gpu) gpu=yes ;;
    *) echo "usage: torch.sh [--gpu]" >&2; exit 2 ;;
    esac
done
for program in python3 g++ cargo; do
    command -v $program >/dev/null || { echo "torch.sh: no $program: scripts/setup.sh installs python3 and g++, rustup.rs cargo" >&2; exit 2; }
done
python3 -m pip --version >/dev/null 2>&1 || { echo "torch.sh: python3 has no pip: scripts/setup.sh installs it (python3-pip)" >&2; exit 2; }

# fetch FOLDER ARGUMENTS...: what pip unpacks, all of it or nothing.
fetch() {
    rm -rf "$1.new"
    folder=$1; shift
    mkdir -p "$folder.new"
    python3 -m pip install --no-compile --no-warn-script-location --disable-pip-version-check --root-user-action ignore \
        --only-binary :all: --target "$folder.new" "$@" || {
        rm -rf "$folder.new"; echo "torch.sh: pip could not fetch $*: see above; the network, or a Python without wheels?" >&2; exit 2; }
    rm -rf "$folder"
    mv "$folder.new" "$folder"
}

mkdir -p "$home/bin"
if [ -n "$gpu" ] && [ ! -e "$home/site/nvidia/cudnn" ]; then
    echo "fetching libtorch $version and its CUDA libraries (3 GB) into $home/site"
    fetch "$home/site" "torch==$version"
elif [ ! -e "$home/site/torch/lib/libtorch_cpu.so" ]; then
    # PyPI's build for Linux is the one with CUDA; its CPU part needs two small CUDA libraries to be loaded.
    echo "fetching libtorch $version (0.5 GB, 1.2 GB unpacked) into $home/site"
    fetch "$home/site" --no-deps "torch==$version" nvidia-cuda-runtime==13.0.96 nvidia-cuda-cupti==13.0.85
fi

# Only the CPU part is linked; the CUDA part is loaded at run time where there is a GPU.
lib=$home/site/torch/lib
mkdir -p "$home/link/lib"
ln -sfn "$home/site/torch/include" "$home/link/include"
for name in libtorch.so libtorch_cpu.so libc10.so libgomp.so.1; do ln -sf "$lib/$name" "$home/link/lib/"; done

if [ ! -e "$home/bin/stampmill-torch" ]; then
    echo "building stampmill-torch (some minutes: C++ bindings)"
fi
LIBTORCH=$home/link CARGO_TARGET_DIR=$home/target RUSTFLAGS="-C link-arg=-Wl,-rpath,\$ORIGIN/../site/torch/lib" \
    cargo build --quiet --release --locked --manifest-path engines/torch/Cargo.toml
cmp -s "$home/target/release/stampmill-torch" "$home/bin/stampmill-torch" || {
    cp "$home/target/release/stampmill-torch" "$home/bin/stampmill-torch.new"
    mv "$home/bin/stampmill-torch.new" "$home/bin/stampmill-torch"
    "$home/bin/stampmill-torch" devices >/dev/null
    echo "built $home/bin/stampmill-torch; \`stampmill sample --device cuda\` uses it"
}

if [ ! -e "$home/python/transformers" ]; then
    echo "fetching transformers (0.1 GB, 0.3 GB unpacked) into $home/python"
    # torch's own needs are named, so that its CUDA libraries are not among them.
    fetch "$home/python" transformers==5.23.0 numpy sympy networkx jinja2 fsspec filelock typing-extensions "setuptools<82"
fi

# A Python that has both. `import torch` wants 2 GB of CUDA libraries, of which the CPU calls nothing: where they
# are not, libraries of the same names take their place, with the names that libtorch_python asks for and no content.
python() {
    {
        echo "#!/bin/sh"
        echo "export PYTHONPATH='$home/python:$home/site' HF_HUB_OFFLINE=1 $*"
        echo "unset PYTHONDONTWRITEBYTECODE" # reading so much source takes longer than the tests
        echo 'exec python3 "$@"'
    } >"$home/python/python.new"
    chmod +x "$home/python/python.new"
    mv "$home/python/python.new" "$home/python/python"
}
if [ -e "$home/site/nvidia/cudnn" ]; then
    python
    exit 0
fi
standins=$home/python/standins
python "LD_LIBRARY_PATH='$standins' LD_PRELOAD='$standins/libtorch_cuda.so'"
[ -e "$standins/libtorch_cuda.so" ] && exit 0
work=$standins.new
rm -rf "$work"; mkdir -p "$work"
nm -D --undefined-only "$lib/libtorch_python.so" "$lib/libtorch.so" | awk 'NF == 2 {print $2}' | sort -u >"$work/wanted"
nm -D --defined-only "$lib/libtorch_cuda.so" "$lib/libtorch_nvshmem.so" | awk 'NF == 3 {print $3}' | sort -u | comm -12 - "$work/wanted" >"$work/cuda"
sed -n 's/^\(cudnn[A-Za-z]*\)@.*/\1/p' "$work/wanted" >"$work/cudnn"
sed -n '/^cuFile[A-Za-z]*$/p' "$work/wanted" >"$work/cufile"
# standin NAMES LIBRARY [VERSION]
standin() {
    {
        # Initialisers write through what some functions return: they return a page of zeros, whose address ends in zeros too.
        printf '.bss\n.balign 65536\nzeros: .zero 65536\n'
        while read -r name; do
            printf '.globl %s\n' "$name"
            case $name in
            _ZTI*) printf '.data\n%s: .quad _ZTVN10__cxxabiv117__class_type_infoE+16, 1f\n1: .asciz "%s"\n' "$name" "${name#_ZTI}" ;;
            _ZTV*) printf '.data\n%s: .zero 1024\n' "$name" ;;
            *) printf '.text\n.type %s,@function\n%s: leaq zeros(%%rip),%%rax\nret\n' "$name" "$name" ;;
            esac
        done <"$1"
    } >"$1.s"
    echo "${3:-} { global: *; };" >"$1.map"
    g++ -shared -nostartfiles -o "$work/$2" "-Wl,-soname,$2,--version-script=$1.map" "$1.s"
}
standin "$work/cuda" libtorch_cuda.so
standin "$work/cudnn" libcudnn.so.9 libcudnn.so.9
standin "$work/cufile" libcufile.so.0
mv "$work" "$standins"

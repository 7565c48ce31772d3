#!/bin/sh
# Install the system packages that are missing; a second run installs nothing.
# package              why
# g++ make pkg-config  build the C++ shim; compile programs for `time` and `edits`
# libclang-19-dev      clang as a library: headers and libclang-cpp, linked by the clang worker only
# llvm-19-dev          LLVM's headers and llvm-config, for the same
# clang-19             the driver: tests hold the worker to its output, benches to its speed
# libllvm19            LLVM's C API for feature vectors (rustc's own library is newer, if there)
# ocl-icd-libopencl1   finds OpenCL devices
# pocl-opencl-icd      an OpenCL device on every CPU
# oclgrind             out-of-bounds and race checks of kernels
# qemu-user            instruction stream of `time`
# python3-pip          fetches PyPI packages for `mine pypi:`
# python3-venv         environments in which the wheel and the notebooks are tested
# mmdebstrap           makes the roots in which `ir build deb:` builds
# util-linux           unshare, mount: tests that attack run in namespaces of their own
set -eu
packages="g++ make pkg-config ca-certificates libclang-19-dev llvm-19-dev clang-19 libllvm19
ocl-icd-libopencl1 pocl-opencl-icd oclgrind qemu-user python3-pip python3-venv mmdebstrap util-linux"
missing=""
for package in $packages; do
    state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
    [ "$state" = installed ] || missing="$missing $package"
done
if [ -z "$missing" ]; then
    exit 0
fi
echo "installing:$missing"
become=""
if [ "$(id -u)" != 0 ]; then
    become="sudo"
    command -v sudo >/dev/null || { echo "need root or sudo to install:$missing" >&2; exit 2; }
fi
try() {
    for attempt in 1 2 3; do
        "$@" && return 0
        echo "attempt $attempt failed; trying again" >&2
        sleep 5
    done
    return 1
}
try $become apt-get update -q
# shellcheck disable=SC2086 # the list is meant to be split
try $become env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $missing

//! AArch64, by Debian's cross compilers.

use super::{Target, Tool};
use timing_model::Architecture;

/// The base instruction set. Floating-point results and the sign of `char` are those of x86-64: no multiplication is
/// fused with an addition.
const FLAGS: [&str; 10] = [
    "-O3",
    "-march=armv8-a",
    "-mtune=generic",
    "-ffp-contract=off",
    "-fsigned-char",
    "-static",
    "-no-pie",
    "-fno-pie",
    "-w",
    "-Wl,--build-id=none",
];

pub(super) const TARGET: Target = Target {
    architecture: Architecture::Aarch64,
    flags: &FLAGS,
    gcc: [
        Tool {
            name: "aarch64-linux-gnu-g++",
            install: "install a cross compiler (Debian: apt install g++-aarch64-linux-gnu)",
        },
        Tool {
            name: "aarch64-linux-gnu-gcc",
            install: "install a cross compiler (Debian: apt install gcc-aarch64-linux-gnu)",
        },
    ],
    clang: [&["clang++", "clang++-19"], &["clang", "clang-19"]],
    clang_flags: &["--target=aarch64-linux-gnu"],
    emulator: "qemu-aarch64",
    guest: "neoverse-n1",
    // The C library's `memset` of the N1 clears lines at once (`dc zva`), and where is nothing that QEMU tells a plugin.
    // This one stores.
    environment: &["GLIBC_TUNABLES=glibc.cpu.name=kunpeng920"],
    elf: object::Architecture::Aarch64,
    refused: ["mrs of a counter", "mrs of rndr"],
};

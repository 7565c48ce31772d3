//! RV64GC, by Debian's cross compilers.

use super::{Target, Tool};
use timing_model::Architecture;

/// RV64GC. Floating-point results and the sign of `char` are those of x86-64: no multiplication is fused with an
/// addition.
const FLAGS: [&str; 10] = [
    "-O3",
    "-march=rv64gc",
    "-mabi=lp64d",
    "-ffp-contract=off",
    "-fsigned-char",
    "-static",
    "-no-pie",
    "-fno-pie",
    "-w",
    "-Wl,--build-id=none",
];

pub(super) const TARGET: Target = Target {
    architecture: Architecture::Riscv64,
    flags: &FLAGS,
    gcc: [
        Tool {
            name: "riscv64-linux-gnu-g++",
            install: "install a cross compiler (Debian: apt install g++-riscv64-linux-gnu)",
        },
        Tool {
            name: "riscv64-linux-gnu-gcc",
            install: "install a cross compiler (Debian: apt install gcc-riscv64-linux-gnu)",
        },
    ],
    clang: [&["clang++", "clang++-19"], &["clang", "clang-19"]],
    clang_flags: &["--target=riscv64-linux-gnu"],
    emulator: "qemu-riscv64",
    guest: "rv64,v=false,zba=false,zbb=false,zbc=false,zbs=false",
    environment: &[],
    elf: object::Architecture::Riscv64,
    refused: ["rdcycle, rdtime or rdinstret", "csrrw of seed"],
};

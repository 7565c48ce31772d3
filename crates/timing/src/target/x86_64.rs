//! x86-64, on its own machines.

use super::{Target, Tool};
use crate::recipe::FLAGS;
use timing_model::Architecture;

pub(super) const TARGET: Target = Target {
    architecture: Architecture::X86_64,
    flags: &FLAGS,
    gcc: [
        Tool { name: "g++", install: "install g++ (Debian: apt install g++)" },
        Tool { name: "gcc", install: "install gcc (Debian: apt install gcc)" },
    ],
    clang: [&["clang++", "clang++-19"], &["clang", "clang-19"]],
    clang_flags: &[],
    emulator: "qemu-x86_64",
    // No random numbers, no `rep` fast paths (the emulator runs those element by element), the vector extensions that
    // QEMU 7.2 has.
    guest: "qemu64,-svm,+ssse3,+sse4.1,+sse4.2,+popcnt,+cx16,+xsave,+avx,+avx2,+bmi1,+bmi2,+fma,\
            +f16c,+movbe,+abm,-rdrand,-rdseed,-rdtscp,-erms",
    environment: &[],
    elf: object::Architecture::X86_64,
    refused: ["rdtsc", "rdrand or rdseed"],
};

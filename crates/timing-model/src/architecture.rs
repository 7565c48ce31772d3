//! Instruction sets that programs are written in.

use serde::{Deserialize, Serialize};

/// An instruction set, with Linux's way to call it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Architecture {
    /// x86-64.
    #[default]
    #[serde(rename = "x86-64")]
    X86_64,
    /// AArch64: the 64-bit base instructions of Arm, floating point and Advanced SIMD.
    #[serde(rename = "aarch64")]
    Aarch64,
    /// RV64GC: the 64-bit base instructions of RISC-V with M, A, F, D and C.
    #[serde(rename = "riscv64")]
    Riscv64,
}

impl Architecture {
    /// All of them.
    pub const ALL: [Architecture; 3] =
        [Architecture::X86_64, Architecture::Aarch64, Architecture::Riscv64];

    /// Its name in processor files and messages.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Architecture::X86_64 => "x86-64",
            Architecture::Aarch64 => "aarch64",
            Architecture::Riscv64 => "riscv64",
        }
    }

    /// The x86-64 number of a Linux system call, by which all tables of calls go; a negative one for a
    /// call that no table knows.
    #[must_use]
    pub fn x86_call(self, number: i64) -> i64 {
        match self {
            Architecture::X86_64 => number,
            Architecture::Aarch64 | Architecture::Riscv64 => generic(number),
        }
    }
}

/// Numbers of Linux's `asm-generic/unistd.h`, which later architectures share.
fn generic(number: i64) -> i64 {
    /// From here on all architectures have the same numbers.
    const COMMON: i64 = 424;
    match number {
        17 => 79,   // getcwd
        23 => 32,   // dup
        24 => 292,  // dup3
        25 => 72,   // fcntl
        29 => 16,   // ioctl
        46 => 77,   // ftruncate
        48 => 269,  // faccessat
        49 => 80,   // chdir
        56 => 257,  // openat
        57 => 3,    // close
        59 => 293,  // pipe2
        61 => 217,  // getdents64
        62 => 8,    // lseek
        63 => 0,    // read
        64 => 1,    // write
        65 => 19,   // readv
        66 => 20,   // writev
        67 => 17,   // pread64
        68 => 18,   // pwrite64
        71 => 40,   // sendfile
        72 => 270,  // pselect6
        73 => 271,  // ppoll
        75 => 278,  // vmsplice
        76 => 275,  // splice
        77 => 276,  // tee
        78 => 267,  // readlinkat
        79 => 262,  // newfstatat
        80 => 5,    // fstat
        82 => 74,   // fsync
        83 => 75,   // fdatasync
        93 => 60,   // exit
        94 => 231,  // exit_group
        96 => 218,  // set_tid_address
        98 => 202,  // futex
        99 => 273,  // set_robust_list
        101 => 35,  // nanosleep
        113 => 228, // clock_gettime
        114 => 229, // clock_getres
        115 => 230, // clock_nanosleep
        123 => 204, // sched_getaffinity
        124 => 24,  // sched_yield
        129 => 62,  // kill
        130 => 200, // tkill
        131 => 234, // tgkill
        132 => 131, // sigaltstack
        134 => 13,  // rt_sigaction
        135 => 14,  // rt_sigprocmask
        138 => 129, // rt_sigqueueinfo
        139 => 15,  // rt_sigreturn
        153 => 100, // times
        160 => 63,  // uname
        163 => 97,  // getrlimit
        164 => 160, // setrlimit
        165 => 98,  // getrusage
        169 => 96,  // gettimeofday
        172 => 39,  // getpid
        173 => 110, // getppid
        174 => 102, // getuid
        175 => 107, // geteuid
        176 => 104, // getgid
        177 => 108, // getegid
        178 => 186, // gettid
        179 => 99,  // sysinfo
        198 => 41,  // socket
        199 => 53,  // socketpair
        200 => 49,  // bind
        201 => 50,  // listen
        202 => 43,  // accept
        203 => 42,  // connect
        206 => 44,  // sendto
        207 => 45,  // recvfrom
        214 => 12,  // brk
        215 => 11,  // munmap
        216 => 25,  // mremap
        220 => 56,  // clone
        222 => 9,   // mmap
        226 => 10,  // mprotect
        233 => 28,  // madvise
        240 => 297, // rt_tgsigqueueinfo
        242 => 288, // accept4
        261 => 302, // prlimit64
        278 => 318, // getrandom
        285 => 326, // copy_file_range
        293 => 334, // rseq
        COMMON.. => number,
        _ => -1 - number.max(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_have_one_number_each() {
        let mut known: Vec<i64> = (0..424).map(generic).filter(|number| *number >= 0).collect();
        let count = known.len();
        known.sort_unstable();
        known.dedup();
        assert_eq!(known.len(), count);
        assert_eq!(Architecture::X86_64.x86_call(63), 63);
        assert_eq!(Architecture::Aarch64.x86_call(63), 0);
        assert_eq!(Architecture::Riscv64.x86_call(435), 435);
        assert_eq!(Architecture::Riscv64.x86_call(258), -259);
    }
}

/// Why a program cannot be timed deterministically.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It reads the processor's clock (`rdtsc`; `mrs` of a counter; `rdtime`, `rdcycle`) or asks the system for the
    /// time: what is built from source has its own answer to that.
    Clock,
    /// It draws from the processor's random numbers (`rdrand`, `rdseed`; `mrs` of `rndr`; `seed`).
    Random,
    /// It uses AVX-512, which the emulator has not.
    Avx512,
    /// It starts a thread or a process.
    Threads,
    /// It opens a socket.
    Network,
    /// It ran for more instructions than it was given.
    Instructions,
}

impl Refusal {
    /// All of them.
    pub const ALL: [Refusal; 6] = [
        Refusal::Clock,
        Refusal::Random,
        Refusal::Avx512,
        Refusal::Threads,
        Refusal::Network,
        Refusal::Instructions,
    ];

    /// Its word in tables and in the plugin's report.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Refusal::Clock => "reads-clock",
            Refusal::Random => "reads-random",
            Refusal::Avx512 => "needs-avx512",
            Refusal::Threads => "starts-threads",
            Refusal::Network => "uses-network",
            Refusal::Instructions => "instruction-limit",
        }
    }

    /// The refusal a system call earns, by its Linux x86-64 number.
    pub(crate) fn of_call(number: i64) -> Option<Refusal> {
        match number {
            // socket, connect, accept, sendto, recvfrom, bind, listen, socketpair, accept4
            41..=45 | 49 | 50 | 53 | 288 => Some(Refusal::Network),
            // clone, fork, vfork, clone3
            56..=58 | 435 => Some(Refusal::Threads),
            // gettimeofday, time, clock_gettime
            96 | 201 | 228 => Some(Refusal::Clock),
            _ => None,
        }
    }
}

schema! {
    /// One program on one input, timed.
    #[derive(Default)]
    pub struct TimingRow = "timing", 2 {
        /// Program, and input where it has several.
        pub name: String,
        /// Content hash of program and input.
        pub job: String,
        /// `accepted`, or why the program could not be timed, such as `does-not-compile`, `crashes`,
        /// `output-limit`, `instruction-limit`, `reads-clock`, `dynamic`.
        pub verdict: String,
        /// What a person would ask next about a verdict other than `accepted`.
        pub detail: String,
        /// Which source measured: `qemu`, `gem5`, `cachegrind` (coarse estimate) or `wall` (this host).
        pub source: String,
        /// Name of the processor that was simulated; `host` for wall-clock time.
        pub cpu: String,
        /// Cycles from the first instruction to the last.
        pub cycles: Option<u64>,
        /// `cycles` at the processor's clock; for wall-clock time, the best run.
        pub seconds_simulated: Option<f64>,
        /// That less what an empty program with the same headers takes. At least 0.
        pub seconds_net: Option<f64>,
        /// Instructions of which about one was simulated in detail; 1: all were.
        pub sample_rate: u64,
        /// One standard error of `cycles`, where they were sampled.
        pub sampling_error_cycles: Option<u64>,
        /// Lower end of the confidence interval of the seconds.
        pub seconds_low: Option<f64>,
        /// Upper end of it.
        pub seconds_high: Option<f64>,
        /// Times the program ran for this measurement.
        pub runs: u64,
        /// Instructions executed.
        pub instructions: Option<u64>,
        /// Instructions per cycle.
        pub ipc: Option<f64>,
        /// Branches executed.
        pub branches: Option<u64>,
        /// Branches predicted wrongly.
        pub mispredicts: Option<u64>,
        /// Loads and stores that missed the first data cache.
        pub l1d_misses: Option<u64>,
        /// Misses of the second level: of data, of code and of page walks.
        pub l2_misses: Option<u64>,
        /// Misses of the last level.
        pub l3_misses: Option<u64>,
        /// Page walks.
        pub tlb_misses: Option<u64>,
        /// Cycles before `main`.
        pub startup_cycles: Option<u64>,
        /// Cycles of system calls and page faults.
        pub kernel_cycles: Option<u64>,
        /// Whether the program asked for more input than there was.
        pub input_ended: Option<bool>,
        /// The program's exit status.
        pub exit_status: Option<i32>,
        /// Content hash of its standard output; empty where nobody read it (wall-clock time).
        pub output_hash: String,
    }
}

words! {
    /// Verdicts of `time`, in schema `timing`.
    pub enum TimingVerdict, "verdict on a timed program" {
        Accepted "accepted" Program "it was timed";
        DoesNotCompile "does-not-compile" Program "the compiler rejects it";
        Crashes "crashes" Program "a signal or a status that is no success ended it";
        Timeout "timeout" Program "ran longer than its wall-clock limit";
        CpuLimit "cpu-limit" Program "used more processor time than its limit";
        MemoryLimit "memory-limit" Program "wanted more memory than its limit";
        OutputLimit "output-limit" Program "wrote more output than its limit";
        ProcessLimit "process-limit" Program "had more processes than its limit";
        InstructionLimit "instruction-limit" Program "executed more instructions than it may";
        ReadsClock "reads-clock" Program "asks for the time, so that it differs from run to run";
        ReadsRandom "reads-random" Program "asks the processor for random numbers";
        ReadsPastInput "reads-past-input" Program "reads on where its input has ended";
        NonDeterministic "non-deterministic" Program "two runs on one input differ";
        StartsThreads "starts-threads" Program "only programs of one thread have one time";
        UsesNetwork "uses-network" Program "opens a socket";
        SendsSignals "sends-signals" Program "signals another process than itself";
        TouchesChannel "touches-channel" Program "reaches for the descriptor that its time is reported through";
        ImplausibleReport "implausible-report" Program "its time cannot be what the emulator says: it changed the emulator's memory";
        NeedsAvx512 "needs-avx512" Us "the emulator has no AVX-512";
        NotExecutable "not-executable" Program "an ELF file that is no executable";
        NotAnElf "not-an-elf" Program "neither C, C++ nor an ELF executable";
        Elf32Bit "elf-32-bit" Us "only 64-bit programs are modelled";
        OtherArchitecture "other-architecture" Us "for another instruction set than the processor's, or for one that is not modelled";
        Dynamic "dynamic" Program "not linked statically";
    }
}

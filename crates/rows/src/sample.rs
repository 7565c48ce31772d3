schema! {
    /// A program that a language model wrote.
    #[derive(Default)]
    pub struct SampleRow = "sample", 2 {
        /// Number of the sample: with checkpoint and seed, what it was drawn by.
        pub number: u64,
        /// `sample-NUMBER.cl`, what other stages call the program.
        #[serde(default)]
        pub path: String,
        /// The program, laid out; where it was accepted without dead code and in normal form.
        pub text: String,
        /// Its kernel.
        pub name: String,
        /// `accepted`, `duplicate` (of an earlier one), or why it was rejected.
        pub verdict: String,
        /// The first diagnostic; for duplicates the number of the first.
        pub detail: String,
        /// IR instructions of the kernel at -O0.
        pub instructions: u32,
        /// Lexemes of the text as drawn.
        pub tokens: u32,
        /// Whether the training corpus holds it.
        pub memorised: bool,
        /// Whether it was force-closed for want of room.
        pub closed: bool,
        /// Draws that the constraint refused.
        pub refused: u64,
    }
}

words! {
    /// Verdicts of `sample`, in schema `sample`.
    pub enum SampleVerdict, "verdict on a sample" {
        Accepted "accepted" Program "a kernel that compiles; no sample before it has its text";
        Duplicate "duplicate" Program "an earlier sample has its text; `detail` is that one's number";
        Unfinished "unfinished" Us "no end within the tokens that a sample may have";
        DoesNotCompile "does-not-compile" Program "clang rejects it; `detail` is the first diagnostic";
        NoKernel "no-kernel" Program "it defines no kernel";
        NotAsAsked "not-as-asked" Program "its kernel has not the arguments, or not the features, that were asked for; `detail` says which it has";
        NoEffect "no-effect" Program "what was drawn for the hole changes nothing: -O2 makes the same code of the prompt without it, a loop or a branch with nothing in it is left of it, or it is an expression that names no variable or whose value nothing uses";
        Undefined "undefined" Program "it compiles, and clang warns that the language does not say what it does; `detail` is the warning";
        NearDuplicate "near-duplicate" Program "with `--novel`: a near-duplicate of a kernel that the model learned from; `detail` is that one's name";
        Unlikely "unlikely" Program "with `--most-bits`: it takes more bits a token than that to the model, or is longer than the model reads; `detail` says how many";
        DoesNotRun "does-not-run" Program "it was to run, and `run`'s checker rejects it; `detail` is the outcome";
        TooSmall "too-small" Program "fewer instructions than a kernel that computes something";
        NotDefined "not-defined" Program "needs what it does not define";
        InlineAssembly "inline-assembly" Program "assembly could reach out of the process that runs it";
        IndirectCall "indirect-call" Program "a call through a pointer could reach out of the process that runs it";
        LinkerAttribute "linker-attribute" Program "an attribute for the linker could reach out of the process that runs it";
        Timeout "timeout" Program "kept the tool longer than its wall-clock limit";
        CpuLimit "cpu-limit" Program "cost the tool more processor time than its limit";
        MemoryLimit "memory-limit" Program "cost the tool more memory than its limit";
        OutputLimit "output-limit" Program "made the tool write more than its limit";
        ProcessLimit "process-limit" Program "made the tool start more processes than its limit";
        Crash "crash" Program "brought the tool down";
    }
}

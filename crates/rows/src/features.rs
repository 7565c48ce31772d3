schema! {
    /// What the spaces say of one kernel, or why they say nothing: the columns that every data set of
    /// vectors has. Behind them stands one per registered space by its name: a struct of named values
    /// for spaces of few dimensions, a list in the space's order for the others, null where there is
    /// no vector.
    #[derive(Default, Eq)]
    pub struct FeaturesHead = "features", 1 {
        /// Identity of the program: the hash of its content.
        pub id: String,
        /// Path of the program as its data set or folder has it.
        pub path: String,
        /// What the program is called: a kernel's name where it was found, if that is known; empty for files.
        pub name: String,
        /// The kernel or function; empty where the vectors are of a program without one.
        pub kernel: String,
        /// `accepted`, or why there is no vector at all.
        pub verdict: String,
        /// What goes with the verdict; for an accepted row, which spaces have no vector and why.
        pub detail: String,
    }
}

words! {
    /// Verdicts of `features`, in schema `features`.
    pub enum FeaturesVerdict, "verdict on a description" {
        Accepted "accepted" Program "at least one space has a vector";
        Empty "empty" Program "nothing in it";
        DoesNotCompile "does-not-compile" Program "the compiler rejects it; `detail` is the first diagnostic";
        NoVector "no-vector" Program "a space of kernels has none of this program: it has no kernel or, of `grewe`, none with an argument in global memory";
        NoExtractor "no-extractor" Program "no space reads such a program: a module has no text and no syntax tree";
        Unsupported "unsupported" Us "space `dynamic`: a kernel that does not run here: `detail` is what it lacks, a function, an argument or the kernel";
        Crashes "crashes" Program "space `dynamic`: a signal ended it when it ran";
        InstructionLimit "instruction-limit" Program "space `dynamic`: executed more instructions than a kernel of its sizes may";
        DivergentBarrier "divergent-barrier" Program "space `dynamic`: a barrier that not every work-item of a group reaches";
        NoCode "no-code" Program "space `dynamic`: nothing in it that is executed";
        LlvmTooNew "llvm-too-new" Machine "bitcode of a later LLVM than is installed";
        InvalidModule "invalid-module" Program "a module that LLVM's verifier rejects";
        NotAModule "not-a-module" Program "no LLVM module";
        Timeout "timeout" Program "kept the tool longer than its wall-clock limit";
        CpuLimit "cpu-limit" Program "cost the tool more processor time than its limit";
        MemoryLimit "memory-limit" Program "cost the tool more memory than its limit";
        OutputLimit "output-limit" Program "made the tool write more than its limit";
        ProcessLimit "process-limit" Program "made the tool start more processes than its limit";
        Crash "crash" Program "brought the tool down";
        Unreadable "unreadable" Machine "a file that this machine could not read";
        NotAFile "not-a-file" Program "a pipe, socket, device or broken link in the place of a file";
        UnsafePath "unsafe-path" Program "a link or path that leads out of its folder";
        TooDeep "too-deep" Program "folders deeper than any program needs";
        TooLarge "too-large" Program "larger than any program";
    }
}

schema! {
    /// One module in numbers.
    #[derive(Default, Eq)]
    pub struct Statistics = "ir-statistics", 1 {
        /// Identity of the module.
        pub id: String,
        /// Its language.
        pub language: String,
        /// Its package.
        pub package: String,
        /// Its source file.
        pub path: String,
        /// Bytes of bitcode.
        pub bitcode_bytes: u64,
        /// Bytes of textual IR.
        pub text_bytes: u64,
        /// Functions with a body.
        pub functions: u64,
        /// Functions without one, LLVM's own not counted.
        pub declarations: u64,
        /// Basic blocks.
        pub blocks: u64,
        /// Instructions.
        pub instructions: u64,
        /// Bytes of constant data in arrays.
        pub data_bytes: u64,
        /// Calls of functions by name.
        pub calls_direct: u64,
        /// Calls of LLVM's own functions.
        pub calls_intrinsic: u64,
        /// Calls through pointers.
        pub calls_indirect: u64,
        /// Calls of assembly.
        pub calls_assembly: u64,
        /// Instructions by opcode, in the order of `opcodes` in the data set's configuration.
        pub opcodes: Vec<u64>,
        /// Functions after `-O3`'s passes; this and what follows is 0 where they were not run.
        pub functions_after: u64,
        /// Blocks after them.
        pub blocks_after: u64,
        /// Instructions after them.
        pub instructions_after: u64,
        /// Bytes of bitcode after them.
        pub bitcode_bytes_after: u64,
        /// Instructions by opcode after them; empty where they were not run.
        pub opcodes_after: Vec<u64>,
        /// Functions whose structure `-O3` left as it was.
        pub functions_unchanged: u64,
        /// Bytes of the object file after them, for x86-64; 0 where there is none.
        pub object_bytes: u64,
        /// Tokens at a vocabulary of 10 thousand; 0 where none were counted.
        pub tokens_10k: u64,
        /// Tokens at 50 thousand.
        pub tokens_50k: u64,
        /// Tokens at 100 thousand.
        pub tokens_100k: u64,
        /// Tokens at 200 thousand.
        pub tokens_200k: u64,
        /// `accepted`, or why it could not be measured.
        pub verdict: String,
        /// What a person would ask next.
        pub detail: String,
    }
}

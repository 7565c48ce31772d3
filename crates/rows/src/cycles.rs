schema! {
    /// A program of modules with a `main`, or one of its functions, with the simulated cycles that it takes on an input: the row of a
    /// program names no function, and those of its functions come behind it. A module that is in no program that ran has one row that says why.
    ///
    /// What a function takes does not hold what it calls. What is left of the program's figures after all functions is of start-up and
    /// libraries.
    #[derive(Default)]
    pub struct CyclesRow = "ir-cycles", 1 {
        /// Identity of the module.
        pub id: String,
        /// Identity of the module with the program's `main`; empty where there is none.
        pub program: String,
        /// Language of the module.
        pub language: String,
        /// Its package.
        pub package: String,
        /// Its source file.
        pub path: String,
        /// The input's name; empty where the program has one input or none.
        pub input: String,
        /// The function; empty: the whole program.
        pub function: String,
        /// Instructions of the function's IR; of the program's modules in a row of a program.
        pub ir_instructions: u64,
        /// Bytes of the function's code; of all functions in a row of a program.
        pub code_bytes: Option<u64>,
        /// Simulated cycles, those of the operating system included.
        pub cycles: Option<u64>,
        /// Instructions executed.
        pub instructions: Option<u64>,
        /// Times that the function was entered from elsewhere, or by calling itself.
        pub calls: Option<u64>,
        /// Of a program: cycles before `main`.
        pub startup_cycles: Option<u64>,
        /// Of a program: cycles of system calls and page faults.
        pub kernel_cycles: Option<u64>,
        /// Name of the processor that was simulated.
        pub cpu: String,
        /// Of a program: its exit status.
        pub exit_status: Option<i32>,
        /// Of a program: content hash of its standard output.
        pub output_hash: String,
        /// `accepted`, or why there are no cycles.
        pub verdict: String,
        /// What a person would ask next.
        pub detail: String,
    }
}

view! {
    /// What is counted of programs.
    pub struct CyclesCount of CyclesRow {
        pub id: String,
        pub program: String,
        pub function: String,
        pub cycles: Option<u64>,
        pub instructions: Option<u64>,
        pub verdict: String,
    }
}

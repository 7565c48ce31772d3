schema! {
    /// One run of a pass of LLVM on a function, or on a part of one: did it change it, and how many instructions were
    /// there before and after. A run on several functions, or on a whole module, has a row for each of them.
    ///
    /// Changed is what has another structure: types, opcodes, constants, operands, control flow, and what is called. Names
    /// of values, attributes and metadata do not count, so a pass that sets only these changes nothing here.
    #[derive(Default)]
    pub struct PassRow = "ir-pass", 2 {
        /// Identity of the module.
        pub id: String,
        /// Its language.
        pub language: String,
        /// Its package.
        pub package: String,
        /// Its source file.
        pub path: String,
        /// Which run of a pass on this module, from 1; rows of one run share it. 0 in the one row of a module that has no
        /// runs: its passes failed, or it has no function.
        pub step: u64,
        /// The pass, as pipelines name it.
        pub pass: String,
        /// What it ran on: `module`, `functions` (some that call each other), `function` or `loop`.
        pub unit: String,
        /// The function.
        pub function: String,
        /// Which run of this pass on this function, from 1.
        pub occurrence: u64,
        /// What became of the function: `unchanged`, `changed`, `added` or `removed`.
        pub effect: String,
        /// Instructions before; 0 where it was not there. Signed, so that differences are right.
        pub instructions_before: i64,
        /// Instructions after; 0 where it is no longer there.
        pub instructions_after: i64,
        /// Time of the run on this machine, with the analyses that it asked for. In the first row of the run alone, so that
        /// sums are right; a measurement that differs from run to run. None with `--no-times`.
        pub seconds: Option<f64>,
        /// `accepted`, or why the module's passes could not be run.
        pub verdict: String,
        /// What a person would ask next.
        pub detail: String,
    }
}

/// What the column `effect` of a [`PassRow`] holds.
pub const UNCHANGED: &str = "unchanged";
/// Its structure is another one.
pub const CHANGED: &str = "changed";
/// It was not there before.
pub const ADDED: &str = "added";
/// It is no longer there.
pub const REMOVED: &str = "removed";

view! {
    /// What is counted of passes.
    pub struct PassEffect of PassRow {
        pub step: u64,
        pub pass: String,
        pub function: String,
        pub effect: String,
        pub instructions_before: i64,
        pub instructions_after: i64,
        pub seconds: Option<f64>,
        pub verdict: String,
    }
}

schema! {
    /// An edit and how far it is certain that it computes what the slow program does. Inputs are of the grammar that the samples of
    /// the problem have; blocks are basic blocks of the two programs' own object code, templates of libraries among them.
    #[derive(Default)]
    pub struct EditCertificate = "edit-certificate", 1 {
        /// The problem.
        pub problem_id: String,
        /// Submission of the slow program.
        pub src_id: String,
        /// Submission of the human's improved version.
        pub tgt_id: String,
        /// 0-based, in the order of drawing.
        pub candidate: u32,
        /// What proposed it.
        pub method: String,
        /// The program.
        pub code: String,
        /// `accepted`, `fails-hidden-tests` where there is a counterexample, or what is wrong on the samples.
        pub verdict: String,
        /// What a person would ask next: how the two differ, or why nothing was compared.
        pub detail: String,
        /// One of [`Certificate`].
        pub certificate: String,
        /// All inputs were compared whose counts and numbers go up to this; 0: none. What else is small tells
        /// docs/design/edits.md.
        pub bound: u32,
        /// The same of inputs of two data sets, where inputs have several.
        pub bound_of_two: u32,
        /// Inputs on which both programs were compared.
        pub inputs: u64,
        /// Of these, inputs within the bounds; the others were grown by coverage.
        pub enumerated: u64,
        /// Inputs on which nothing can be compared: the slow program comes to a bad end, prints nothing, reads past their end, or the
        /// sanitizers find something in it where the two differ.
        pub left_out: u64,
        /// Inputs that reached a block which none before them did.
        pub kept: u64,
        /// Basic blocks of the two programs; 0 where they cannot be traced.
        pub blocks: u64,
        /// Of these, blocks that an input reached.
        pub reached: u64,
        /// Blocks executed, those of all inputs and both programs together: what the search costs, the same on each machine.
        pub steps: u64,
        /// The grammar of the samples; empty where none fits, and inputs are changed samples.
        pub grammar: String,
        /// The input on which the two differ, of `counterexample` and `doubtful`; else empty.
        #[serde(with = "serde_bytes")]
        pub counterexample: Vec<u8>,
        /// How it was found: `enumeration` or `growth`; empty where there is none.
        pub found_by: String,
        /// What the slow program prints on it.
        #[serde(with = "serde_bytes")]
        pub wanted: Vec<u8>,
    }
}

words! {
    /// How far it is certain that an edit computes what the slow program does: the column `certificate` of schema
    /// `edit-certificate`.
    pub enum Certificate, "certificate of an edit" {
        Exhaustive "exhaustive" Program "equal on all inputs of the grammar within a bound of at least 2 with at least 10 inputs, and on those grown by coverage";
        Covered "covered" Program "equal on all inputs grown by coverage, until no input reached a new block";
        Doubtful "doubtful" Us "differs on an input with a number or a word out of the samples' range, which may break the problem's limits";
        Counterexample "counterexample" Program "differs on an input whose numbers and words all lie in the samples' range";
        None "none" Us "nothing was compared, or blocks were still being reached when the inputs were used up";
    }
}

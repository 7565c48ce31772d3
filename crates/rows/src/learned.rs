schema! {
    /// A labelled kernel.
    #[derive(Default)]
    pub struct LearnedRow = "learned", 2 {
        /// `train` and `test` for what was there, `round` for what was made; in an experiment the arm that
        /// it was made for.
        pub role: String,
        /// The round that made it, from 1; 0 for what was there.
        pub round: u32,
        /// Of an experiment: the base that it was added to.
        pub replicate: u32,
        /// The point it was made for; empty for what was there.
        pub target: Vec<f64>,
        /// How near it came to that point: 1 is a hit.
        pub proximity: f64,
        /// The votes' entropy at the point when it was chosen, in bits.
        pub entropy: f64,
        /// Identity of the text.
        pub path: String,
        /// The program.
        pub text: String,
        /// Its vector in the space.
        pub vector: Vec<f64>,
        /// What each choice costs, in seconds; empty where it does not run.
        pub costs: Vec<f64>,
        /// `accepted`, or why there are no costs.
        pub verdict: String,
    }
}

schema! {
    /// A kernel that waits for its measurement on another machine.
    #[derive(Default, Eq)]
    pub struct WaitingRow = "round", 1 {
        /// Identity of the text.
        pub path: String,
        /// The program.
        pub text: String,
    }
}

words! {
    /// Verdicts of `learn`, in schema `learned`.
    pub enum LearnedVerdict, "verdict on a labelled kernel" {
        Accepted "accepted" Program "its costs are known";
        DoesNotRun "does-not-run" Program "it does not run on every device";
    }
}

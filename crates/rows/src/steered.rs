schema! {
    /// A kernel found for a target. It opens wherever a data set of programs does.
    #[derive(Default)]
    pub struct SteeredRow = "steered", 1 {
        /// The target's name.
        pub target: String,
        /// The space of the search.
        pub space: String,
        /// 1 for the nearest kernel of its target.
        pub rank: u32,
        /// `TARGET#RANK`, what other stages call the program.
        pub path: String,
        /// The kernel's name.
        pub name: String,
        /// The program.
        pub text: String,
        /// `accepted`; `impossible` for a target that no program can have, `nothing-found` for one that
        /// nothing came near to.
        pub verdict: String,
        /// The constraint that is broken.
        pub detail: String,
        /// Whether it lies right at the target.
        pub exact: bool,
        /// Distance from the target by the metric of the search.
        pub distance: f64,
        /// 1 − Euclidean distance / norm of the target.
        pub proximity: f64,
        /// Who proposed it.
        pub proposer: String,
        /// How many mined kernels lie right at the target; they are no part of the answer.
        pub mined_exact: u32,
        /// Proximity of the nearest mined kernel; 0 without any.
        pub mined_proximity: f64,
        /// Candidates judged for the target.
        pub candidates: u64,
        /// What the search took, in the unit of its budget: seconds of the clock or of processors; 0
        /// where it counts candidates, whose rows are the same each time.
        pub seconds: f64,
        /// The values in the space, in its order.
        pub vector: Vec<f64>,
    }
}

words! {
    /// Verdicts of `steer`, in schema `steered`.
    pub enum SteeredVerdict, "verdict on a target" {
        Accepted "accepted" Program "a kernel near to the target";
        Impossible "impossible" Program "no program can have the target; `detail` is the constraint that is broken";
        NothingFound "nothing-found" Us "nothing came near to the target";
    }
}

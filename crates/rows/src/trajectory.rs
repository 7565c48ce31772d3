schema! {
    /// A candidate that survived its generation of a search.
    #[derive(Default)]
    pub struct TrajectoryRow = "trajectory", 1 {
        /// The target's name.
        pub target: String,
        /// Its generation, from 1.
        pub generation: u32,
        /// Candidates judged for the target up to the end of the generation.
        pub candidates: u64,
        /// Seconds up to the end of the generation, of the clock or of processors as the budget is; 0
        /// where it counts candidates.
        pub seconds: f64,
        /// Who proposed it.
        pub proposer: String,
        /// Its distance.
        pub distance: f64,
        /// Its proximity.
        pub proximity: f64,
        /// Whether nothing was nearer before.
        pub best: bool,
    }
}

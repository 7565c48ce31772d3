schema! {
    /// One observation that heuristics learn from, a program on one input: the columns that every task
    /// has. Behind them stand the features, one column of doubles each by its name, and `cost_CHOICE`
    /// per choice, null where unmeasured.
    #[derive(Default, Eq)]
    pub struct TaskHead = "task", 1 {
        /// The program or kernel.
        pub program: String,
        /// Which input or size of it; may be empty.
        pub variant: String,
        /// What is held out together in cross-validation, for example the benchmark.
        pub group: String,
        /// The cheapest choice; null where unmeasured.
        pub label: Option<String>,
    }
}

/// Costs are columns of this prefix and the choice's name.
pub const COST: &str = "cost_";

words! {
    /// Why `label` and `heuristic import` leave an observation out or change it.
    pub enum TaskVerdict, "verdict on an observation" {
        Accepted "accepted" Program "taken as it is";
        Relabelled "relabelled" Program "taken, with the cheapest choice as its label";
        UnknownLabel "unknown-label" Program "a label that is no choice";
        NotANumber "not-a-number" Program "a feature that is no number";
        InfiniteRatio "infinite-ratio" Program "a feature divides by zero";
        GarbageFeature "garbage-feature" Program "a feature that no program can have";
        BadCost "bad-cost" Program "a cost that is not positive";
        Unmeasured "unmeasured" Machine "no time on one of the devices";
        Undescribed "undescribed" Program "no vector";
    }
}

use serde::{Deserialize, Serialize};

schema! {
    /// A kernel found for a target. It opens wherever a data set of programs does.
    #[derive(Default)]
    pub struct SteeredRow = "steered", 3 {
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
        /// The constraint that is broken; of a kernel, what is not as wanted, and why its search ended before its budget; of the
        /// last of fewer kernels than were asked for, what became of others.
        pub detail: String,
        /// Whether it lies right at the target.
        pub exact: bool,
        /// Distance from the target by the metric of the search.
        pub distance: f64,
        /// 1 − Euclidean distance / norm of the target.
        pub proximity: f64,
        /// Who proposed it.
        pub proposer: String,
        /// The kernels among the seeds that it is made of, in the order in which they came in, and what those descend from; none
        /// where it was made from nothing. Members: the kernel's `name` where it was found, its `package`, its `path` there and its
        /// `license` (SPDX expression), each empty where it is not known.
        #[serde(default)]
        pub descends_from: Vec<Ancestor>,
        /// How many mined kernels lie right at the target; they are no part of the answer.
        pub mined_exact: u32,
        /// Proximity of the nearest mined kernel; 0 without any.
        pub mined_proximity: f64,
        /// Mined kernels that its search could start from: all of the run, less those that would give this target away.
        #[serde(default)]
        pub seeds: u32,
        /// Candidates judged for the target.
        pub candidates: u64,
        /// Of these, candidates that were judged before for the target, under other names: they were not compiled again.
        #[serde(default)]
        pub known: u64,
        /// Candidates beside these that were not judged: what their one edit was seen to do each time leads away from the target.
        #[serde(default)]
        pub skipped: u64,
        /// Candidates of that kind that were judged all the same, one of sixteen.
        #[serde(default)]
        pub checked: u64,
        /// Of these, those that have another vector than was predicted, or none.
        #[serde(default)]
        pub mispredicted: u64,
        /// What the search took, in the unit of its budget: seconds of the clock or of processors; 0
        /// where it counts candidates, whose rows are the same each time.
        pub seconds: f64,
        /// The values in the space, in its order.
        pub vector: Vec<f64>,
        /// With `--natural`, how unlikely the kernel was when it was found: minus log2 of the model's probability of its text.
        #[serde(default)]
        pub bits_before: Option<f64>,
        /// The same of the text as it stands here.
        #[serde(default)]
        pub bits: Option<f64>,
        /// These, per token of the model.
        #[serde(default)]
        pub bits_per_token: Option<f64>,
        /// With `--natural` and a checkpoint that has a discriminator, what that says of the kernel as it was found: the probability that
        /// a person wrote it.
        #[serde(default)]
        pub human_before: Option<f64>,
        /// The same of the text as it stands here.
        #[serde(default)]
        pub human: Option<f64>,
        /// With `--trajectory`, of the nearest kernel of each target: the candidates that survived their
        /// generation, as they came. Members: the `generation`, from 1; `candidates` judged and `seconds`
        /// spent up to its end (0 where the budget counts candidates); who proposed it; its `distance` and
        /// `proximity`; whether nothing was nearer before (`best`).
        #[serde(default)]
        pub trajectory: Vec<Survivor>,
    }
}

/// A kernel that others are made of.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ancestor {
    /// Its name where it was found.
    pub name: String,
    /// Package name.
    pub package: String,
    /// Path in the package; of one that a search found `TARGET#RANK`.
    pub path: String,
    /// SPDX expression, or empty.
    pub license: String,
}

/// A candidate that survived its generation of a search.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Survivor {
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

view! {
    /// How near a search came, without the kernel.
    pub struct SteeredHead of SteeredRow {
        pub target: String,
        pub rank: u32,
        pub verdict: String,
        pub detail: String,
        pub exact: bool,
        pub proximity: f64,
        pub mined_exact: u32,
        pub mined_proximity: f64,
        #[serde(default)]
        pub seeds: u32,
        pub candidates: u64,
        #[serde(default)]
        pub known: u64,
        #[serde(default)]
        pub skipped: u64,
        #[serde(default)]
        pub checked: u64,
        #[serde(default)]
        pub mispredicted: u64,
        pub seconds: f64,
        #[serde(default)]
        pub bits_before: Option<f64>,
        #[serde(default)]
        pub bits: Option<f64>,
        #[serde(default)]
        pub bits_per_token: Option<f64>,
        #[serde(default)]
        pub human_before: Option<f64>,
        #[serde(default)]
        pub human: Option<f64>,
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

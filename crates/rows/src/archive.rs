use crate::Ancestor;

schema! {
    /// A kernel of an archive, and where it lies. It opens wherever a data set of programs does.
    #[derive(Default)]
    pub struct ArchivedRow = "archive", 1 {
        /// Content hash of `text`.
        pub id: String,
        /// The program.
        pub text: String,
        /// The kernel's name in `text`.
        pub name: String,
        /// What it was called where it was found, or its file; of one that a search found what its target calls its kernel.
        pub original_name: String,
        /// The source as it was asked for; empty for files and for what a search found.
        pub source: String,
        /// Package name.
        pub package: String,
        /// Package version.
        pub version: String,
        /// Its path in the package; of one that a search found `TARGET#RANK`.
        pub path: String,
        /// SPDX expression, or empty.
        pub license: String,
        /// What the expression was read from, or empty.
        pub license_source: String,
        /// Its family of near-duplicates where it was found.
        pub family: String,
        /// Who proposed it, where a search found it.
        pub proposer: String,
        /// Where a search found it, the kernels that it is made of; as in schema `steered`.
        #[serde(default)]
        pub descends_from: Vec<Ancestor>,
        /// Tokens of `text`.
        pub tokens: u32,
        /// The space of `vector`.
        pub space: String,
        /// The values in the space, in its order; none where there are none.
        pub vector: Vec<f64>,
        /// `accepted` for the kernel that stands for its point, `same-point` for the others there; `no-vector`.
        pub verdict: String,
        /// Of a kernel at the point of another: which row that is, from 0.
        pub detail: String,
    }
}

words! {
    /// Verdicts of `steer archive build`, in schema `archive`.
    pub enum ArchivedVerdict, "verdict on a kernel of an archive" {
        Accepted "accepted" Program "the kernel that stands for its point: of those there the one with the fewest tokens";
        SamePoint "same-point" Program "another kernel stands for its point: no seed, but the leak rule looks at it; `detail` says which row";
        NoVector "no-vector" Program "no vector in the space, because it does not compile, say: no seed, but the leak rule looks at it";
    }
}

schema! {
    /// What a player of `serve --quiz` took a kernel for, in the order of players and of their questions.
    #[derive(Default, Eq)]
    pub struct AnswerRow = "answer", 1 {
        /// The player: a random name of 16 hexadecimal digits.
        pub player: String,
        /// Number of the question among the player's, from 1.
        pub number: u32,
        /// The data set that the kernel is from, as it was named.
        pub source: String,
        /// Who wrote the kernel: `human` or `machine`.
        pub kind: String,
        /// Content hash of the kernel's text.
        pub program: String,
        /// Who the player says wrote it: `human` or `machine`.
        pub answer: String,
        /// Whether these are the same.
        pub right: bool,
        /// Milliseconds from the kernel on the player's screen to the answer, as the player's browser counts.
        pub milliseconds: u32,
    }
}

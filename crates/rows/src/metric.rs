schema! {
    /// One step of a training: a line of `metrics.jsonl`.
    #[derive()]
    pub struct Metric = "training-metrics", 1 {
        /// Steps so far.
        pub step: u64,
        /// Tokens so far.
        pub tokens: u64,
        /// Seconds so far.
        pub seconds: f64,
        /// Mean loss of the step's targets, in nats.
        pub loss: f64,
        /// Mean loss of the validation split's targets, where it was looked at.
        pub validation_loss: Option<f64>,
        /// Learning rate of the step.
        pub learning_rate: f64,
        /// Norm of the gradient before clipping.
        pub gradient_norm: f64,
        /// Tokens a second since the run was started or resumed.
        pub tokens_per_second: f64,
    }
}

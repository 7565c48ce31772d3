use dataset::Verdict;

schema! {
    /// A candidate and what was found out about it. Times are seconds of the simulated processor; `net` are
    /// those from `main` on.
    #[derive(Default)]
    pub struct Judgement = "edit-judgement", 4 {
        /// The problem.
        pub problem_id: String,
        /// Submission of the slow program.
        pub src_id: String,
        /// Submission of the human's improved version.
        pub tgt_id: String,
        /// 0-based, in the order of drawing.
        pub candidate: u32,
        /// What the file of candidates calls it (`id`); empty where it has no name there.
        #[serde(default)]
        pub candidate_id: String,
        /// What proposed it.
        pub method: String,
        /// The program.
        pub code: String,
        /// One of [`EditVerdict`], or a verdict of `time`.
        pub verdict: String,
        /// What a person would ask next.
        pub detail: String,
        /// Tests of the problem.
        pub tests: u32,
        /// Those it passed before the first failure.
        pub passed: u32,
        /// Hidden tests of the problem.
        pub hidden_tests: u32,
        /// Those it passed before the first failure.
        pub hidden_passed: u32,
        /// Slow program, summed over the tests.
        pub src_seconds: Option<f64>,
        /// The same, net.
        pub src_net: Option<f64>,
        /// Slow program, each test.
        pub src_times: Vec<f64>,
        /// Slow program's memory.
        pub src_peak_bytes: u64,
        /// Candidate, summed over the tests; there where it is accepted.
        pub seconds: Option<f64>,
        /// The same, net.
        pub net: Option<f64>,
        /// How many times faster the candidate is than the slow program: `src_seconds / seconds`.
        pub speedup: Option<f64>,
        /// Candidate, each test.
        pub times: Vec<f64>,
        /// Candidate's instructions.
        pub instructions: Option<u64>,
        /// Candidate's memory.
        pub peak_bytes: u64,
        /// The problem's fastest known program on these tests.
        pub fastest_seconds: Option<f64>,
        /// `not-run`, `clean`, `as-source`, or the finding.
        pub sanitizer: String,
        /// What changed: `algorithm`, `data-structure`, `I/O`, `other`, or `nothing` where no statement differs.
        pub label: String,
        /// Whether nothing but input and output changed.
        pub io_only: bool,
        /// Whether an array is shorter.
        pub array_shrunk: bool,
        /// Of a candidate that gains: whether the gain is gone from `main` on.
        #[serde(default)]
        pub startup_only: bool,
        /// Of a candidate that gains: whether it does on small inputs alone. None of the tests, hidden ones too, on which the slow
        /// program takes at least half as long as on its longest shows half of the threshold's gain.
        #[serde(default)]
        pub small_only: bool,
        /// The test that shows it, the slow program's longest: `test 3`, or `hidden test 3`; empty where none does.
        #[serde(default)]
        pub refuted_by: String,
    }
}

impl Judgement {
    /// Whether it passed everything.
    #[must_use]
    pub fn is_accepted(&self) -> bool {
        self.verdict == Verdict::ACCEPTED
    }

    /// How many times faster the candidate is than the slow program, where both have a time.
    #[must_use]
    pub fn ratio(&self) -> Option<f64> {
        let seconds = self.seconds.filter(|seconds| *seconds > 0.0)?;
        Some(self.src_seconds? / seconds)
    }
}

words! {
    /// Verdicts of the `edits` commands, in schemas `edit-test`, `edit-pair` and `edit-judgement`, and of what
    /// `edits self-play` rejects. Behind them stand those of `time`.
    pub enum EditVerdict, "verdict on an edit" {
        Accepted "accepted" Program "passes all tests, hidden ones too";
        NoProgram "no-program" Program "the answer has no program in it";
        DoesNotCompile "does-not-compile" Program "the compiler's first error";
        WrongOutput "wrong-output" Program "the first difference";
        Crashes "crashes" Program "a signal or an abort";
        Timeout "timeout" Program "more wall-clock time than allowed";
        CpuLimit "cpu-limit" Program "more processor time than allowed";
        MemoryLimit "memory-limit" Program "more memory than allowed";
        OutputLimit "output-limit" Program "printed more than allowed";
        ProcessLimit "process-limit" Program "had more processes than allowed";
        InstructionLimit "instruction-limit" Program "executed more instructions than allowed";
        FailsHiddenTests "fails-hidden-tests" Program "right on the tests it could know, wrong on others";
        ShrunkenArray "shrunken-array" Program "the same, or out of bounds, and an array is shorter than the slow program's";
        GainsOnKnownTests "gains-on-known-tests" Program "right, and faster on the tests it could know alone";
        AnswerTable "answer-table" Program "right or fast on the tests it could know alone, and expected outputs stand in its text";
        HardCodedInput "hard-coded-input" Program "the same, and inputs of the tests stand in its text";
        DiffersWhenTimed "differs-when-timed" Program "prints something else in the run that is timed than in the one that is checked";
        OutputBeforeReading "output-before-reading" Program "prints a test's answer without having read anything";
        UndefinedBehaviour "undefined-behaviour" Program "the sanitizers find something that they do not in the slow program";
        ReadsClock "reads-clock" Program "its time would differ from run to run";
        StartsThreads "starts-threads" Program "only programs of one thread have one time";
        SendsSignals "sends-signals" Program "signals another process than itself";
        TouchesChannel "touches-channel" Program "reaches for the descriptor that its time is reported through";
        ImplausibleReport "implausible-report" Program "its time cannot be what the emulator says: it changed the emulator's memory";
        NoTests "no-tests" Us "the problem has none";
        SourceFails "source-fails" Program "the slow program itself does not pass, so nothing can be compared";
        Slower "slower" Program "of a pair: the improved program takes more time";
        GainTooSmall "gain-too-small" Program "of a pair: the improved program takes less time, by less than the threshold";
        NoSamples "no-samples" Us "of a problem: no sample tests to begin with";
        NoProgramPasses "no-program-passes" Program "of a problem: no known program passes its samples";
        OnlyOneProgram "only-one-program" Us "of a problem: one program agrees with itself on anything";
        ChangesFromRunToRun "changes-from-run-to-run" Program "of an invented program: two runs on one input differ";
        SameAsKnown "same-as-known" Program "of an invented program: it prints what the one it is to differ from does";
        SameEverywhere "same-everywhere" Program "of an invented program: it prints one text on all inputs";
    }
}

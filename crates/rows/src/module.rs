use dataset::Verdict;

schema! {
    /// One row of an IR data set: a module as the compiler first made it, or what became of a package or
    /// file that gave none. Only rows of verdict `accepted` are modules.
    ///
    /// The first six columns are ComPile's (Grossman et al., 2023, section 4), under its names.
    #[derive(Default, Eq)]
    pub struct Module = "module", 1, shard_rows 4096 {
        /// Bitcode, before any optimisation.
        #[serde(with = "serde_bytes")]
        pub content: Vec<u8>,
        /// SPDX expression, or empty.
        pub license_expression: String,
        /// What the expression was read from: `metadata`, `debian-copyright`, `license-file`, or empty.
        pub license_source: String,
        /// Content hashes of the license texts that the package holds.
        pub license_files: Vec<String>,
        /// The source it was built from, pinned: `crate:regex@1.11.1`.
        pub package_source: String,
        /// `c`, `c++`, `rust`, `fortran`, `d`, `zig`, `swift`, `julia`, `opencl`, `cuda`, `hip`, or empty.
        pub language: String,
        /// Content hash of `content`.
        pub id: String,
        /// `module`, `package` for a row about a whole package, `license-text` for a text in `content`.
        pub kind: String,
        /// Package name.
        pub package: String,
        /// Package version, or empty.
        pub version: String,
        /// The file it was compiled from: inside the tree that was built, else as the command names it.
        pub path: String,
        /// What it was compiled into: the object file, or the name and kind of a crate.
        pub target: String,
        /// The exact command as the build gave it, paths inside the build tree written from `[tree]`. Where it
        /// names gcc, clang ran in its place: `compiler` says so.
        pub command: Vec<String>,
        /// What wrote the bitcode, as its header says, for example `LLVM22.1.2-rust-1.95.0-stable`.
        pub compiler: String,
        /// Major version of the LLVM which wrote it; 0 where it does not say.
        pub llvm: u32,
        /// Hash over everything the preprocessor read: the source, each included file, the macros of
        /// the command line.
        pub source_hash: String,
        /// Bytes of `content`, also where it was dropped as a duplicate.
        pub bytes: u64,
        /// Functions with a body.
        pub functions: u64,
        /// Instructions in them.
        pub instructions: u64,
        /// Structural hash of the module: names, metadata and order do not matter.
        pub structure: String,
        /// Structural hashes of its functions, ascending.
        pub function_structures: Vec<u64>,
        /// MinHash signature of its instructions.
        pub signature: Vec<u32>,
        /// Least `id` of the modules near to it; one family is one split.
        pub family: String,
        /// Modules of the same structure that were dropped for this one.
        pub duplicates: u64,
        /// `train`, `validation`, `test`, or empty before `ir export`.
        pub split: String,
        /// Why it was kept or rejected.
        pub verdict: String,
        /// What a person would ask next.
        pub detail: String,
        /// The end of a failed package's output.
        pub log: String,
    }
}

/// `kind` of a module.
pub const MODULE: &str = "module";
/// `kind` of a row about a whole package.
pub const PACKAGE: &str = "package";
/// `kind` of the text of a license.
pub const LICENSE_TEXT: &str = "license-text";

impl Module {
    /// Whether it is a usable module.
    #[must_use]
    pub fn is_accepted(&self) -> bool {
        self.verdict == Verdict::ACCEPTED
    }

    /// Whether the row is about a whole package.
    #[must_use]
    pub fn is_package(&self) -> bool {
        self.kind == PACKAGE
    }

    /// Take a verdict; the content of what is not accepted is not kept.
    #[must_use]
    pub fn turned_away(mut self, verdict: Verdict) -> Module {
        self.verdict = verdict.name.into_owned();
        self.detail = verdict.detail;
        self.content = Vec::new();
        self
    }
}

view! {
    /// What is counted of modules that are kept, and what their families are found by.
    pub struct ModuleKey of Module {
        pub id: String,
        pub kind: String,
        pub verdict: String,
        pub structure: String,
        pub signature: Vec<u32>,
        pub function_structures: Vec<u64>,
        pub license_expression: String,
        pub language: String,
        pub bytes: u64,
    }
}

view! {
    /// What decides which module of a structure is kept.
    pub struct ModuleRank of Module {
        pub id: String,
        pub kind: String,
        pub verdict: String,
        pub structure: String,
        pub license_expression: String,
    }
}

view! {
    /// What tells a module from others, and where it is from.
    pub struct ModuleOrigin of Module {
        pub id: String,
        pub kind: String,
        pub package_source: String,
        pub package: String,
        pub version: String,
        pub path: String,
        pub target: String,
        pub verdict: String,
    }
}

words! {
    /// Verdicts of the `ir` commands, in schemas `module`, `ir-statistics`, `ir-pass` and `ir-cycles`; a program that `ir run` ran
    /// has those of `time`.
    pub enum ModuleVerdict, "verdict on a module" {
        Accepted "accepted" Program "a module";
        Duplicate "duplicate" Program "another module has its structure; `detail` is that one's `id`";
        LicenseNotAdmitted "license-not-admitted" Us "the license policy does not admit it";
        NotAModule "not-a-module" Program "no LLVM module";
        InvalidModule "invalid-module" Program "a module that LLVM's verifier rejects";
        LlvmTooNew "llvm-too-new" Machine "bitcode of a later LLVM than is installed";
        TooLarge "too-large" Us "more bytes than a module may have";
        PassesFailed "passes-failed" Program "LLVM's passes fail on it";
        NoLibrary "no-library" Machine "no LLVM that reads it is installed";
        NoRecord "no-record" Machine "a file of which the build kept no record";
        Unreadable "unreadable" Machine "a file or folder that this machine could not read";
        NoBitcode "no-bitcode" Program "the compiler gave no bitcode for it";
        DoesNotCompile "does-not-compile" Program "the compiler rejects it";
        NoMain "no-main" Program "no `main` in it, so that it is no program by itself";
        NoObject "no-object" Program "LLVM's back end makes no object of it, or it is for another processor; `detail` names that";
        DoesNotLink "does-not-link" Program "what it needs is in no module of its program and no library of C or C++";
        Timeout "timeout" Program "kept the tool longer than its wall-clock limit";
        CpuLimit "cpu-limit" Program "cost the tool more processor time than its limit";
        MemoryLimit "memory-limit" Program "cost the tool more memory than its limit";
        OutputLimit "output-limit" Program "made the tool write more than its limit";
        ProcessLimit "process-limit" Program "made the tool start more processes than its limit";
        Crash "crash" Program "brought the tool down";
        Built "built" Program "a whole package; `detail` says how many modules it gave";
        NoModules "no-modules" Program "a package that was built and gave none";
        DoesNotBuild "does-not-build" Program "the package's own build fails; `log` has its last words";
        DiskLimit "disk-limit" Program "a build that wrote more than it may";
        MovesItsTree "moves-its-tree" Program "a build that replaced the folder it was built in";
        NeedsUnavailable "needs-unavailable" Machine "what the build needs cannot be installed";
        SourceUnavailable "source-unavailable" Machine "a source that could not be fetched";
        LicenseText "license-text" Program "no module: the text of a license of the package";
    }
}

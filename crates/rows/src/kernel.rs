schema! {
    /// One row of a kernel data set: a kernel, or a content file or kernel that was rejected. Of C programs:
    /// a function in the place of the kernel, without arguments and dimensions.
    #[derive(Default, Eq)]
    pub struct KernelRow = "kernel", 2 {
        /// Content hash of `text`; of a row without text, of what it is about.
        pub id: String,
        /// The kernel's program: itself and what it needs.
        pub text: String,
        /// The kernel's name in `text`.
        pub name: String,
        /// The kernel's name in its content file, of a template in CUDA with the arguments of the instance.
        pub original_name: String,
        /// Id of the content file.
        pub content_id: String,
        /// The source as it was asked for.
        pub source: String,
        /// Package name.
        pub package: String,
        /// Package version.
        pub version: String,
        /// Path of the content file in the package.
        pub path: String,
        /// SPDX expression, or empty.
        pub license: String,
        /// What the expression was read from, or empty.
        pub license_source: String,
        /// `plain`, `shim` (with a header of commonly assumed definitions) or `repaired`; empty where nothing compiled.
        pub status: String,
        /// What was defined or left out so that its file compiles, one each; of a template in CUDA, arguments that were assumed.
        pub inferred: Vec<String>,
        /// The `-cl-std` it compiles with; `cuda` for a kernel that is in CUDA as it is.
        pub standard: String,
        /// Whether `text` is in the normalised form.
        pub rewritten: bool,
        /// Whether its canonical IR was compared with the content file's and is equal.
        pub identical_ir: bool,
        /// JSON list of the arguments, names and types as in `text`.
        pub arguments: String,
        /// Dimensions of the index space that it asks for: 1 to 3, 0 if unknown.
        pub dimensions: u8,
        /// `reqd_work_group_size`, empty if it has none.
        pub required_group_size: Vec<u32>,
        /// IR instructions of the kernel itself at -O0.
        pub instructions: u32,
        /// Tokens of `text`.
        pub tokens: u32,
        /// Lines of `text`.
        pub lines: u32,
        /// Id of the first member of its family of near-duplicates.
        pub family: String,
        /// Other kernels of the same text.
        pub duplicates: u32,
        /// Why it was kept or rejected.
        pub verdict: String,
        /// What a person would ask next.
        pub detail: String,
    }
}

impl KernelRow {
    /// Whether the row holds a usable kernel, duplicates included.
    #[must_use]
    pub fn is_kernel(&self) -> bool {
        !self.text.is_empty()
    }
}

view! {
    /// A kernel's text, by what its family is excluded from a search, and where it is from.
    pub struct KernelText of KernelRow {
        pub text: String,
        pub original_name: String,
        pub family: String,
        pub package: String,
        pub path: String,
        pub license: String,
        pub verdict: String,
    }
}

view! {
    /// What tells a kernel from others.
    pub struct KernelKey of KernelRow {
        pub id: String,
        pub verdict: String,
    }
}

view! {
    /// A kernel as a page shows it.
    pub struct KernelSummary of KernelRow {
        pub id: String,
        pub name: String,
        pub original_name: String,
        pub content_id: String,
        pub package: String,
        pub path: String,
        pub license: String,
        pub text: String,
        pub verdict: String,
    }
}

view! {
    /// A kernel as a device needs it.
    pub struct KernelProgram of KernelRow {
        pub text: String,
        pub name: String,
        pub original_name: String,
        pub package: String,
        pub path: String,
        pub license: String,
        pub family: String,
        pub arguments: String,
        pub dimensions: u8,
        pub required_group_size: Vec<u32>,
        pub verdict: String,
    }
}

words! {
    /// Verdicts of `prepare`, in schema `kernel`.
    /// Rows of content files that were rejected before keep their verdicts.
    pub enum KernelVerdict, "verdict on a kernel" {
        Accepted "accepted" Program "a kernel; no row before it has its text";
        RewriteChangedIr "rewrite-changed-ir" Us "a kernel whose rewritten form was not proved equal: isolated, not rewritten";
        IsolationChangedIr "isolation-changed-ir" Us "a kernel whose isolated form was not proved equal to its file's own either: isolated, not rewritten";
        IsolationFailed "isolation-failed" Us "a kernel that clang accepts in its file, and not once it is cut out; `detail` is the first diagnostic";
        Duplicate "duplicate" Program "a kernel whose text another row holds, which has its `id`; `detail` says where that one is";
        DoesNotCompile "does-not-compile" Program "clang rejects it; `detail` is the first error of the text as found, in the kernel or what it needs, and behind `after repair` the first that repair left, where that is another";
        TooSmall "too-small" Program "fewer instructions than a kernel that computes something";
        NotDefined "not-defined" Program "needs what its program does not define; `detail` names it";
        InlineAssembly "inline-assembly" Program "assembly could reach out of the process that runs it";
        IndirectCall "indirect-call" Program "a call through a pointer could reach out of the process that runs it";
        LinkerAttribute "linker-attribute" Program "an attribute for the linker could reach out of the process that runs it";
        NotCLike "not-c-like" Program "a kernel in CUDA that OpenCL C has no form of; `detail` says what";
        WarpIntrinsic "warp-intrinsic" Program "threads of a warp that speak to each other, in CUDA";
        TensorCore "tensor-core" Program "products of matrices by a warp, in CUDA";
        HalfType "half-type" Program "numbers of 16 bits, in CUDA";
        Texture "texture" Program "textures or surfaces, in CUDA";
        DeviceLambda "device-lambda" Program "a lambda that the device calls, in CUDA";
        DynamicParallelism "dynamic-parallelism" Program "a kernel in CUDA that launches another";
        NoInstance "no-instance" Us "a template in CUDA that no code of its file instantiates, and that does not compile with defaults";
        TranslationChangedIr "translation-changed-ir" Us "a kernel in CUDA whose translation was not proved equal";
        TooManyKernels "too-many-kernels" Us "behind the first 4,096 of its file, or the first 16 instances of its template";
        TooLong "too-long" Us "a function that is longer than kernels are, with all that it needs";
        Inactive "inactive" Program "conditional compilation leaves it out";
        NoKernel "no-kernel" Program "a content file without a kernel";
        NoFunction "no-function" Program "a content file without a function";
        Timeout "timeout" Program "kept the tool longer than its wall-clock limit";
        CpuLimit "cpu-limit" Program "cost the tool more processor time than its limit";
        MemoryLimit "memory-limit" Program "cost the tool more memory than its limit";
        OutputLimit "output-limit" Program "made the tool write more than its limit";
        ProcessLimit "process-limit" Program "made the tool start more processes than its limit";
        Crash "crash" Program "brought the tool down";
        Empty "empty" Program "nothing in it";
        NotUtf8 "not-utf8" Program "binary";
        TooLarge "too-large" Program "larger than any program";
        LicenseNotAdmitted "license-not-admitted" Us "the license filter does not admit it";
        Unreadable "unreadable" Machine "a file that this machine could not read";
        NotAFile "not-a-file" Program "a pipe, socket, device or broken link in the place of a file";
        UnsafePath "unsafe-path" Program "a link or path that leads out of its folder";
        TooDeep "too-deep" Program "folders deeper than any program needs";
        NotOpenCl "not-opencl" Program "as `mine` said";
        IncludesTooLarge "includes-too-large" Program "as `mine` said";
        SourceUnavailable "source-unavailable" Machine "as `mine` said";
        PartialSource "partial-source" Machine "as `mine` said";
        BrokenArchive "broken-archive" Program "as `mine` said";
        PackageTooLarge "package-too-large" Us "as `mine` said";
    }
}

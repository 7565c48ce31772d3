use dataset::Row;
use serde::{Deserialize, Serialize};

schema! {
    /// One observation that heuristics learn from, a program on one input: the columns that every task
    /// has. Behind them stand the features, one column of doubles each by its name, and `cost_CHOICE`
    /// per choice, null where unmeasured. Of a task with exact labels (`label --task size`): where the
    /// program is from, its verdict, a list `costs` and a vector per feature space; names of choices and
    /// dimensions are in `_dataset.json` (`configuration.choices`, `configuration.spaces`). A task with one
    /// choice asks for its cost, not for a choice.
    #[derive(Default, Eq)]
    pub struct TaskHead = "task", 3 {
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

/// What is held out together when a heuristic is scored on what it has not seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
pub enum Grouping {
    /// Programs of one package; of a program without one, of one path.
    #[default]
    Package,
    /// Near-duplicates; of a program without a family, programs of one path.
    Family,
    /// Programs of one path.
    Path,
}

impl Grouping {
    /// What is held out together of programs of these packages where nobody says: a package, where there are several.
    #[must_use]
    pub fn of_packages<'a>(packages: impl IntoIterator<Item = &'a str>) -> Grouping {
        let mut packages = packages.into_iter();
        let first = packages.next();
        match packages.any(|other| Some(other) != first) {
            true => Grouping::Package,
            false => Grouping::Path,
        }
    }

    /// The group of a program with this package, family and path, of which the first two may be empty.
    #[must_use]
    pub fn of<'a>(self, package: &'a str, family: &'a str, path: &'a str) -> &'a str {
        let group = match self {
            Grouping::Package => package,
            Grouping::Family => family,
            Grouping::Path => path,
        };
        if group.is_empty() { path } else { group }
    }
}

/// A row that `label` makes: a kernel at one size, on a processor and on a GPU. Its features are those of
/// Grewe, Wang and O'Boyle (CGO 2013).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CpuGpuRow {
    /// `PACKAGE/PATH:KERNEL@` and eight digits of the program's identity.
    pub program: String,
    /// The global size.
    pub variant: String,
    /// What is held out together.
    pub group: String,
    /// License of the program.
    pub license: String,
    /// The faster device: `CPU` or `GPU`.
    pub label: String,
    /// As `label`; for readers of the CLgen paper's tables.
    pub oracle: String,
    /// As the feature space `grewe` counts it, and the five behind it.
    pub comp: f64,
    /// See `comp`.
    pub rational: f64,
    /// See `comp`.
    pub mem: f64,
    /// See `comp`.
    pub localmem: f64,
    /// See `comp`.
    pub coalesced: f64,
    /// See `comp`.
    pub atomic: f64,
    /// Bytes that cross the bus.
    pub transfer: f64,
    /// Work-items of a group, on the GPU.
    pub wgsize: f64,
    /// Bytes transferred per operation.
    #[serde(rename = "F1:transfer/(comp+mem)")]
    pub f1_transfer: f64,
    /// Share of coalesced accesses.
    #[serde(rename = "F2:coalesced/mem")]
    pub f2_coalesced: f64,
    /// Accesses of local per access of global memory, in a group.
    #[serde(rename = "F3:(localmem/mem)*avgws")]
    pub f3_local: f64,
    /// Operations per access of global memory.
    #[serde(rename = "F4:comp/mem")]
    pub f4_comp: f64,
    /// Seconds on the processor: the kernel, and the transfers that count.
    #[serde(rename = "cost_CPU")]
    pub cost_cpu: f64,
    /// Seconds on the GPU.
    #[serde(rename = "cost_GPU")]
    pub cost_gpu: f64,
    /// Slower over faster time; as `oracle`, and in single precision so no feature.
    pub speedup: f32,
    /// Its inverse, likewise.
    pub penalty: f32,
}

impl CpuGpuRow {
    /// Its features by the names of their columns.
    #[must_use]
    pub fn features(&self) -> [(&'static str, f64); 12] {
        [
            ("comp", self.comp),
            ("rational", self.rational),
            ("mem", self.mem),
            ("localmem", self.localmem),
            ("coalesced", self.coalesced),
            ("atomic", self.atomic),
            ("transfer", self.transfer),
            ("wgsize", self.wgsize),
            ("F1:transfer/(comp+mem)", self.f1_transfer),
            ("F2:coalesced/mem", self.f2_coalesced),
            ("F3:(localmem/mem)*avgws", self.f3_local),
            ("F4:comp/mem", self.f4_comp),
        ]
    }
}

impl Row for CpuGpuRow {
    const SCHEMA: &'static str = TaskHead::SCHEMA;
    const VERSION: u32 = TaskHead::VERSION;
}

/// A row that `label` makes of a task with exact labels: a program and what it costs by each choice.
/// Behind these columns stands one per feature space, as in schema `features`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LabelHead {
    /// `PACKAGE/PATH:KERNEL@` and eight digits of the program's identity.
    pub program: String,
    /// Empty: there is no input.
    pub variant: String,
    /// What is held out together.
    pub group: String,
    /// The cheapest choice, the first of equals; null without a label.
    pub label: Option<String>,
    /// Identity of the program: the hash of its content.
    pub id: String,
    /// Its package; empty for files.
    pub package: String,
    /// Its family of near-duplicates; empty for files.
    pub family: String,
    /// Its path as the data set or folder has it.
    pub path: String,
    /// The data set's name for it; empty for files.
    pub name: String,
    /// License of the program.
    pub license: String,
    /// `accepted`, or why it has no label.
    pub verdict: String,
    /// What goes with the verdict.
    pub detail: String,
    /// What it costs by each choice, in the order of `choices` of the configuration; a value is null where
    /// that choice failed, the list is empty without a label.
    pub costs: Vec<Option<f64>>,
}

impl Row for LabelHead {
    const SCHEMA: &'static str = TaskHead::SCHEMA;
    const VERSION: u32 = TaskHead::VERSION;
}

/// What a task calls a program: `PACKAGE/PATH:KERNEL@` and eight digits of the program's identity, since isolated kernels of one
/// file share its path and often their name. The package may be empty; a program of no kernel has no `:KERNEL`.
#[must_use]
pub fn program_name(package: &str, path: &str, kernel: Option<&str>, id: &str) -> String {
    let mark = id.get(..8).unwrap_or(id);
    let package = if package.is_empty() { String::new() } else { format!("{package}/") };
    let kernel = kernel.map(|kernel| format!(":{kernel}")).unwrap_or_default();
    format!("{package}{path}{kernel}@{mark}")
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
        NoCpuRun "no-cpu-run" Machine "was run on no CPU";
        NoGpuRun "no-gpu-run" Machine "was run on no GPU";
        Unmeasured "unmeasured" Machine "no time on one of the devices, or at any size of groups";
        Undescribed "undescribed" Program "no vector";
        DoesNotCompile "does-not-compile" Program "the compiler rejects it; `detail` is the first diagnostic";
        LlvmTooNew "llvm-too-new" Machine "bitcode of a later LLVM than is installed";
        InvalidModule "invalid-module" Program "a module that LLVM's verifier rejects";
        NotAModule "not-a-module" Program "no LLVM module";
        NoBackEnd "no-back-end" Program "a module for a processor that no machine code is made for";
        NoCode "no-code" Program "nothing in it that costs anything";
        Unsupported "unsupported" Us "a kernel that is no loop over work-items by itself: `detail` is what it lacks, a function, an argument or the kernel";
        NoLoop "no-loop" Program "nothing to choose: the kernel has no loop";
        SameCode "same-code" Program "nothing to choose: all choices give the same machine code";
        Crashes "crashes" Program "a signal ended it when it ran: a panic of Rust is one";
        InstructionLimit "instruction-limit" Program "executed more instructions than a program of its sizes may";
        UnknownInstruction "unknown-instruction" Program "machine code that llvm-mca has no model of";
        ChoiceFailed "choice-failed" Program "no cost by some choices, which `detail` names";
        Timeout "timeout" Program "kept the tool longer than its wall-clock limit";
        CpuLimit "cpu-limit" Program "cost the tool more processor time than its limit";
        MemoryLimit "memory-limit" Program "cost the tool more memory than its limit";
        OutputLimit "output-limit" Program "made the tool write more than its limit";
        ProcessLimit "process-limit" Program "made the tool start more processes than its limit";
        Crash "crash" Program "brought the tool down";
        Unreadable "unreadable" Machine "a file that this machine could not read";
        NotAFile "not-a-file" Program "a pipe, socket, device or broken link in the place of a file";
        UnsafePath "unsafe-path" Program "a link or path that leads out of its folder";
        TooDeep "too-deep" Program "folders deeper than any program needs";
        TooLarge "too-large" Program "larger than any program";
    }
}

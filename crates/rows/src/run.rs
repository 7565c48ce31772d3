use serde::{Deserialize, Serialize};

schema! {
    /// One row of a data set of schema `run`: a kernel at one size on one device. The columns include
    /// those of cldrive's CSV.
    #[derive(Default)]
    pub struct RunRow = "run", 2 {
        /// Identity of the program: the hash of its text.
        pub id: String,
        /// The package it is from; empty where the input does not say.
        pub package: String,
        /// Its license as an SPDX expression; empty where the input does not say.
        pub license: String,
        /// Identity of its family of near-duplicates; empty where the input does not say.
        pub family: String,
        /// Where the program is from.
        pub path: String,
        /// The kernel, or several in order joined by `+`.
        pub kernel: String,
        /// The kernel's name in its own file, where it was renamed; else empty.
        #[serde(default)]
        pub original_name: String,
        /// The device's name; of several of one name with its number behind it, as in `NVIDIA H200 #2`.
        pub device: String,
        /// `cpu`, `gpu`, `accelerator` or `other`.
        pub device_type: String,
        /// Its platform.
        pub platform: String,
        /// Its driver's version.
        pub driver: String,
        /// The version of the platform, which names PoCL's compiler, and of OpenCL C.
        pub compiler: String,
        /// Greatest clock frequency in MHz; 0 where the driver does not know.
        pub clock_mhz: u32,
        /// What the program was built with, beyond the driver's defaults.
        pub build_options: String,
        /// Work-items.
        pub global_size: u64,
        /// Work-items of a group; `None` where it did not come to that.
        pub local_size: Option<u64>,
        /// Work-items along each dimension of the first kernel, such as `64x16`.
        pub global_shape: String,
        /// The same of a group.
        pub local_shape: String,
        /// How the payload (the arguments of the execution) was chosen: the name of a variant, after
        /// `suite-` where sizes and values are those of a suite's host program.
        pub payload: String,
        /// Distribution of the contents.
        pub values: String,
        /// An [`Outcome`].
        pub outcome: String,
        /// `kernel` or `us`: what the outcome is about.
        pub about: String,
        /// The argument, the limit, the compiler's first error.
        pub detail: String,
        /// Local memory that the kernel declares, in bytes.
        pub work_item_local_mem_size: Option<u64>,
        /// Private memory of a work-item, in bytes.
        pub work_item_private_mem_size: Option<u64>,
        /// Bytes that cross the bus in one execution, both ways.
        pub transferred_bytes: Option<u64>,
        /// Median time of an execution's transfers.
        pub transfer_time_ns: Option<u64>,
        /// Median time of the kernel on the device, by its own clock.
        pub kernel_time_ns: Option<u64>,
        /// Median time of an execution by the host's clock.
        pub wall_time_ns: Option<u64>,
        /// How often it was executed, after a warm-up.
        pub repeats: Option<u32>,
        /// Width of the 95 % confidence interval of the median kernel time, relative to it.
        pub interval: Option<f64>,
    }
}

/// On which devices transfers are a cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
pub enum Transfers {
    /// On all but processors, which can read the host's memory where it lies.
    #[default]
    Gpu,
    /// On all.
    Both,
}

impl RunRow {
    /// The kernel's name in its own file, as far as that is known.
    #[must_use]
    pub fn known_as(&self) -> &str {
        if self.original_name.is_empty() { &self.kernel } else { &self.original_name }
    }

    /// Seconds of the kernel and of the transfers that count; `None` where nothing was measured.
    #[must_use]
    pub fn seconds(&self, transfers: Transfers) -> Option<f64> {
        let counts = transfers == Transfers::Both || self.device_type != "cpu";
        let transfer = if counts { self.transfer_time_ns? } else { 0 };
        // Anybody can write a row.
        let total = self.kernel_time_ns?.saturating_add(transfer);
        (self.outcome == Outcome::Pass.name() && total > 0).then_some(total as f64 * 1e-9)
    }
}

words! {
    /// How the execution of a kernel at one size on one device ended: the outcomes of `run`.
    pub enum Outcome, "outcome of a run" {
        Pass "pass" Program "it ran, and does predictable work that depends on its input";
        BuildFailure "build-failure" Program "the device's compiler refuses the program";
        Refused "refused" Program "it reaches out of itself (assembly, calls of what it does not define): no driver is given it";
        NoKernel "no-kernel" Program "the program holds no kernel";
        NoArguments "no-arguments" Program "the kernel takes nothing and so can give nothing";
        UnsupportedArgument "unsupported-argument" Us "an argument is of a type no payload is made for";
        InvalidSize "invalid-size" Us "the size asked for does not fit the kernel or the device";
        OutOfResources "out-of-resources" Us "the device had not enough memory, registers or the like";
        Crash "crash" Program "it brought the driver down";
        Timeout "timeout" Program "it ran into its wall-clock limit";
        NoOutput "no-output" Program "it leaves every buffer as it was";
        InputInsensitive "input-insensitive" Program "two different inputs give the same output";
        NonDeterministic "non-deterministic" Program "two equal inputs give different outputs";
        OutOfBounds "out-of-bounds" Program "it reads or writes outside of its buffers";
        ReadsUnset "reads-unset" Program "it reads local memory that nothing writes";
        Race "race" Program "two work-items race for a place in memory";
    }
}

/// Whom an [`Outcome`] tells something about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum About {
    /// The kernel itself.
    Kernel,
    /// The way it was driven: an unsupported argument, a size of our choice, a guess that was
    /// wrong about what an index may be.
    Us,
}

impl Outcome {
    /// Whom it is about. `compiled`: a reference compiler had accepted the program, so that a
    /// device's compiler that refuses it is merely another one. `guessed`: the kernel computes
    /// addresses from the contents of its buffers, which are of our making.
    #[must_use]
    pub fn about(self, compiled: bool, guessed: bool) -> About {
        match self {
            Outcome::UnsupportedArgument | Outcome::InvalidSize | Outcome::OutOfResources => {
                About::Us
            }
            Outcome::BuildFailure if compiled => About::Us,
            Outcome::Crash | Outcome::OutOfBounds if guessed => About::Us,
            _ => About::Kernel,
        }
    }
}

impl About {
    /// Its word in tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            About::Kernel => "kernel",
            About::Us => "us",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_failure_is_about_us_only_where_another_compiler_took_the_program() {
        assert_eq!(Outcome::BuildFailure.about(true, false), About::Us);
        assert_eq!(Outcome::BuildFailure.about(false, false), About::Kernel);
        assert_eq!(Outcome::Crash.about(true, true), About::Us);
        assert_eq!(Outcome::Crash.about(true, false), About::Kernel);
        assert_eq!(Outcome::NoOutput.about(true, true), About::Kernel);
    }
}

use crate::{Finding, Outcome};
use opencl3::error_codes::{self as code, ClError};

/// A call that OpenCL refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    /// What was tried.
    action: &'static str,
    code: i32,
    /// Whether a kernel was running: the device is in an unknown state.
    running: bool,
}

impl Fault {
    /// For `map_err`: `action` failed before any kernel ran.
    pub(crate) fn at(action: &'static str) -> impl Fn(ClError) -> Fault {
        move |error| Fault { action, code: error.0, running: false }
    }

    /// The same for the raw codes of the C interface.
    pub(crate) fn raw(action: &'static str) -> impl Fn(i32) -> Fault {
        move |code| Fault { action, code, running: false }
    }

    /// For `map_err`: `action` failed while or after a kernel ran.
    pub(crate) fn running(action: &'static str) -> impl Fn(ClError) -> Fault {
        move |error| Fault { action, code: error.0, running: true }
    }

    /// Whether the worker should be replaced.
    pub(crate) fn spoils(&self) -> bool {
        self.running || self.gone()
    }

    fn gone(&self) -> bool {
        self.code == code::CL_DEVICE_NOT_AVAILABLE
    }

    /// What it says about the execution.
    pub(crate) fn finding(&self) -> Finding {
        let name = ClError(self.code);
        if self.gone() {
            return Finding::new(Outcome::OutOfResources, format!("the device is gone ({name})"));
        }
        let outcome = match self.code {
            // Some drivers find room for a buffer when it is first used.
            code::CL_MEM_OBJECT_ALLOCATION_FAILURE | code::CL_OUT_OF_HOST_MEMORY => {
                Outcome::OutOfResources
            }
            // Devices report a fault of the running kernel as whatever fails next, and NVIDIA's
            // as a lack of resources.
            _ if self.running => Outcome::Crash,
            code::CL_OUT_OF_RESOURCES => Outcome::OutOfResources,
            code::CL_INVALID_BUFFER_SIZE
            | code::CL_INVALID_IMAGE_SIZE
            | code::CL_INVALID_WORK_GROUP_SIZE
            | code::CL_INVALID_WORK_ITEM_SIZE
            | code::CL_INVALID_WORK_DIMENSION
            | code::CL_INVALID_GLOBAL_WORK_SIZE => Outcome::InvalidSize,
            code::CL_INVALID_ARG_SIZE
            | code::CL_INVALID_ARG_VALUE
            | code::CL_INVALID_SAMPLER
            | code::CL_IMAGE_FORMAT_NOT_SUPPORTED => Outcome::UnsupportedArgument,
            _ => Outcome::Crash,
        };
        let room = match self.code {
            code::CL_MEM_OBJECT_ALLOCATION_FAILURE | code::CL_OUT_OF_HOST_MEMORY => {
                "no memory is left for it, "
            }
            _ => "",
        };
        Finding::new(outcome, format!("cannot {}: {room}{name}", self.action))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lack_of_resources_is_a_crash_once_the_kernel_runs() {
        let error = || ClError(code::CL_OUT_OF_RESOURCES);
        let before = Fault::at("make a buffer")(error());
        assert_eq!(before.finding().outcome, Outcome::OutOfResources);
        assert!(!before.spoils());
        let after = Fault::running("run the kernel")(error());
        assert_eq!(after.finding().outcome, Outcome::Crash);
        assert!(after.spoils());
    }

    #[test]
    fn memory_that_is_short_once_the_kernel_runs_is_still_a_lack_of_resources() {
        let late =
            Fault::running("run the kernel")(ClError(code::CL_MEM_OBJECT_ALLOCATION_FAILURE));
        assert_eq!(late.finding().outcome, Outcome::OutOfResources);
    }

    #[test]
    fn a_device_that_went_away_is_named() {
        let fault = Fault::at("make a buffer")(ClError(code::CL_DEVICE_NOT_AVAILABLE));
        assert!(fault.finding().detail.contains("gone") && fault.spoils());
    }
}

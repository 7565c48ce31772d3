use serde::{Deserialize, Serialize};

/// What the host program of a published suite launches one kernel with.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HostPayload {
    /// Work-items along each dimension, one to three.
    pub global: Vec<u64>,
    /// The same of a group; empty: it is left to the driver.
    pub local: Vec<u64>,
    /// One per argument, in order.
    pub arguments: Vec<HostArgument>,
}

/// What is known of one argument; what is not is drawn, as for any other kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HostArgument {
    /// Elements of a buffer.
    pub elements: Option<u64>,
    /// Every number of an argument passed by value.
    pub value: Option<f64>,
    /// Numbers in a buffer are whole and stay below this.
    pub below: Option<u64>,
}

impl HostPayload {
    /// Work-items in all.
    pub(crate) fn items(&self) -> u64 {
        self.global.iter().product()
    }

    /// Work-items of a group, where the host asks for so many.
    pub(crate) fn group(&self) -> Option<u64> {
        (!self.local.is_empty()).then(|| self.local.iter().product())
    }

    /// What is known of the argument at this place.
    pub(crate) fn argument(&self, at: usize) -> HostArgument {
        self.arguments.get(at).copied().unwrap_or_default()
    }
}

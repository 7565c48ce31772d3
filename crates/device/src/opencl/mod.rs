//! OpenCL behind safe calls: devices, programs, guarded memory, launches.
//!
//! Only the worker process comes here. Every call that can fail gives a [`Fault`], which
//! [`Fault::finding`] turns into what it means for the kernel.

mod device;
mod execution;
mod fault;
mod memory;
mod program;

pub(crate) use device::{Device, list};
pub(crate) use execution::{Execution, Times};
pub(crate) use fault::Fault;
pub(crate) use program::{Built, KernelFacts};

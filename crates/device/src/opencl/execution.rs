use super::{Built, Device, Fault, memory::Memory};
use crate::payload::{Binding, Payload, Plan, Range};
use opencl3::{
    event::Event,
    kernel::{Kernel, set_kernel_arg},
    memory::{CL_ADDRESS_CLAMP_TO_EDGE, CL_FILTER_NEAREST, Sampler},
    types::CL_FALSE,
};
use std::{
    ffi::c_void,
    mem::size_of,
    ptr::{from_ref, null},
    time::Instant,
};

/// How long the parts of one execution took, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Times {
    /// On the device, of all kernels in a row.
    pub(crate) kernel_ns: u64,
    /// Of all transfers, both ways.
    pub(crate) transfer_ns: u64,
    /// By the host's clock, from the first transfer to the last.
    pub(crate) wall_ns: u64,
}

/// A plan with its memory on a device, to be executed as often as one likes.
#[derive(Debug)]
pub(crate) struct Execution<'a> {
    device: &'a Device,
    kernels: Vec<&'a Kernel>,
    plan: &'a Plan,
    memories: Vec<Memory>,
    sampler: Option<Sampler>,
    /// What came back from the device, per object; empty where nothing does.
    pub(crate) outputs: Vec<Vec<u8>>,
}

impl<'a> Execution<'a> {
    /// Make room on the device.
    pub(crate) fn new(
        device: &'a Device,
        built: &'a Built,
        names: impl Iterator<Item = &'a str>,
        plan: &'a Plan,
        guarded: bool,
    ) -> Result<Execution<'a>, Fault> {
        let kernels = names.filter_map(|name| built.kernel(name)).collect();
        let memories = plan.objects.iter().map(|object| Memory::new(device, object, guarded));
        let memories = memories.collect::<Result<_, _>>()?;
        let samples = plan.bindings.iter().flatten().any(|binding| *binding == Binding::Sampler);
        let sampler = match samples {
            true => Some(sampler(device)?),
            false => None,
        };
        let outputs = plan.objects.iter().map(|object| match object.written {
            true => vec![0; object.bytes()],
            false => Vec::new(),
        });
        Ok(Execution { device, kernels, plan, memories, sampler, outputs: outputs.collect() })
    }

    /// Fill the guards, and all that the kernels only write, with `pattern`.
    pub(crate) fn poison(&mut self, pattern: u8) -> Result<(), Fault> {
        for (memory, object) in self.memories.iter_mut().zip(&self.plan.objects) {
            memory.set_guards(self.device, pattern)?;
            if !object.read {
                memory.write(self.device, &vec![pattern; object.bytes()])?;
            }
        }
        Ok(())
    }

    /// The first object whose guards are no longer `pattern`, and how far outside.
    pub(crate) fn broken_guard(&self, pattern: u8) -> Result<Option<(usize, i64)>, Fault> {
        for (at, memory) in self.memories.iter().enumerate() {
            if let Some(distance) = memory.broken_guard(self.device, pattern)? {
                self.device.stray();
                return Ok(Some((at, distance)));
            }
        }
        Ok(None)
    }

    /// Send what is read, run the kernels, fetch what is written.
    pub(crate) fn run(&mut self, payload: &Payload) -> Result<Times, Fault> {
        let started = Instant::now();
        let mut transfers = Vec::new();
        let objects = self.memories.iter_mut().zip(&self.plan.objects).zip(&payload.objects);
        for ((memory, object), bytes) in objects {
            if object.read {
                transfers.push(memory.write(self.device, bytes)?);
            }
        }
        let mut launches = Vec::new();
        for (at, kernel) in self.kernels.iter().enumerate() {
            self.bind(kernel, &self.plan.bindings[at], &payload.arguments[at])?;
            launches.push(launch(self.device, kernel, &self.plan.ranges[at])?);
        }
        self.device.queue.finish().map_err(Fault::running("run the kernel"))?;
        for launch in &launches {
            launch.wait().map_err(Fault::running("run the kernel"))?;
        }
        for (memory, bytes) in self.memories.iter().zip(&mut self.outputs) {
            if !bytes.is_empty() {
                transfers.push(memory.read(self.device, bytes)?);
            }
        }
        let wall_ns = u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX);
        Ok(Times { kernel_ns: total(&launches), transfer_ns: total(&transfers), wall_ns })
    }

    fn bind(&self, kernel: &Kernel, bindings: &[Binding], values: &[Vec<u8>]) -> Result<(), Fault> {
        for (at, (binding, value)) in (0..).zip(bindings.iter().zip(values)) {
            let memory;
            let (size, from): (usize, *const c_void) = match binding {
                Binding::Object(object) => {
                    memory = self.memories[*object].handle();
                    (size_of_val(&memory), from_ref(&memory).cast())
                }
                Binding::Local(bytes) => (*bytes, null()),
                Binding::Value(..) => (value.len(), value.as_ptr().cast()),
                Binding::Sampler => {
                    memory = self.sampler.as_ref().map_or(std::ptr::null_mut(), Sampler::get);
                    (size_of::<*mut c_void>(), from_ref(&memory).cast())
                }
            };
            // SAFETY: `from` points to `size` bytes that outlive the call, or is null for local
            // memory; the driver compares size and kind with the kernel's argument.
            let set = unsafe { set_kernel_arg(kernel.get(), at, size, from) };
            set.map_err(Fault::raw("set an argument"))?;
        }
        Ok(())
    }
}

#[expect(deprecated, reason = "drivers of OpenCL 1.2 know only this call")]
fn sampler(device: &Device) -> Result<Sampler, Fault> {
    Sampler::create(&device.context, CL_FALSE, CL_ADDRESS_CLAMP_TO_EDGE, CL_FILTER_NEAREST)
        .map_err(Fault::at("make a sampler"))
}

fn launch(device: &Device, kernel: &Kernel, range: &Range) -> Result<Event, Fault> {
    let dimensions = u32::try_from(range.dimensions).expect("a range has three dimensions at most");
    let global = range.global.map(|side| usize::try_from(side).unwrap_or(usize::MAX));
    let local = range.local.map(|side| usize::try_from(side).unwrap_or(usize::MAX));
    let (global, local) = (global.as_ptr(), local.as_ptr());
    // SAFETY: all arguments have been set; global and local sizes hold a number per dimension.
    // What the kernel itself does to memory is why it runs in a worker process.
    let event = unsafe {
        device.queue.enqueue_nd_range_kernel(kernel.get(), dimensions, null(), global, local, &[])
    };
    event.map_err(Fault::at("start the kernel"))
}

/// Nanoseconds that the commands took on the device; 0 where the driver does not say.
fn total(events: &[Event]) -> u64 {
    let took = |event: &Event| {
        let (start, end) = (event.profiling_command_start(), event.profiling_command_end());
        end.unwrap_or(0).saturating_sub(start.unwrap_or(0))
    };
    events.iter().map(took).sum()
}

use super::Fault;
use crate::{DeviceInfo, DeviceType, listing::told_apart, payload::Limits};
use opencl3::{
    command_queue::{CL_QUEUE_PROFILING_ENABLE, CommandQueue},
    context::Context,
    device::{
        CL_DEVICE_TYPE_ACCELERATOR, CL_DEVICE_TYPE_ALL, CL_DEVICE_TYPE_CPU, CL_DEVICE_TYPE_GPU,
    },
    error_codes::{ClError, DLOPEN_RUNTIME_LOAD_FAILED},
    platform::{Platform, get_platforms},
};
use std::cell::Cell;

const PLATFORM_NOT_FOUND: i32 = -1001;

/// All devices of all platforms, in the order their drivers report them.
///
/// # Errors
/// Why there is no OpenCL at all.
pub(crate) fn list() -> Result<Vec<DeviceInfo>, String> {
    let devices = all()?;
    let named = devices.iter().zip(names(&devices));
    Ok(named.map(|((platform, device), name)| describe(platform, device, name)).collect())
}

type Found = (Platform, opencl3::device::Device);

fn all() -> Result<Vec<Found>, String> {
    let platforms = match get_platforms() {
        Ok(platforms) if platforms.is_empty() => Err("no driver is registered".to_owned()),
        Ok(platforms) => Ok(platforms),
        Err(ClError(DLOPEN_RUNTIME_LOAD_FAILED)) => {
            Err("libOpenCL.so.1 is not installed".to_owned())
        }
        Err(ClError(PLATFORM_NOT_FOUND)) => Err("no driver is registered".to_owned()),
        Err(error) => Err(format!("the loader says {error}")),
    }?;
    let mut devices = Vec::new();
    for platform in platforms {
        // A platform without devices answers with an error; the others still count.
        let ids = platform.get_devices(CL_DEVICE_TYPE_ALL).unwrap_or_default();
        devices.extend(ids.into_iter().map(|id| (platform, opencl3::device::Device::new(id))));
    }
    Ok(devices)
}

/// What the devices are called, each by a name of its own.
fn names(devices: &[Found]) -> Vec<String> {
    let names: Vec<String> = devices.iter().map(|(_, device)| word(device.name())).collect();
    told_apart(&names)
}

/// What a driver says, without the blanks around it; empty where it says nothing.
fn word(text: opencl3::Result<String>) -> String {
    text.unwrap_or_default().trim().to_owned()
}

fn describe(platform: &Platform, device: &opencl3::device::Device, name: String) -> DeviceInfo {
    let mut why = Vec::new();
    for (there, what) in [
        (device.available(), "the driver says it is not available"),
        (device.compiler_available(), "its driver has no compiler"),
        (device.endian_little(), "it is big-endian"),
    ] {
        if !there.unwrap_or(false) {
            why.push(what);
        }
    }
    let kind = match device.dev_type().unwrap_or(0) {
        bits if bits & CL_DEVICE_TYPE_GPU != 0 => DeviceType::Gpu,
        bits if bits & CL_DEVICE_TYPE_CPU != 0 => DeviceType::Cpu,
        bits if bits & CL_DEVICE_TYPE_ACCELERATOR != 0 => DeviceType::Accelerator,
        _ => DeviceType::Other,
    };
    DeviceInfo {
        name,
        r#type: kind,
        usable: why.is_empty(),
        why: why.join("; "),
        platform: word(platform.name()),
        platform_version: word(platform.version()),
        version: word(device.version()),
        driver: word(device.driver_version()),
        language: word(device.opencl_c_version()),
        clock_mhz: device.max_clock_frequency().unwrap_or(0),
        compute_units: device.max_compute_units().unwrap_or(0),
        memory_bytes: device.global_mem_size().unwrap_or(0),
    }
}

/// A device that was opened.
#[derive(Debug)]
pub(crate) struct Device {
    pub(super) context: Context,
    pub(super) queue: CommandQueue,
    pub(super) device: opencl3::device::Device,
    /// Sub-buffers begin at multiples of this.
    pub(super) align_bytes: usize,
    limits: Limits,
    /// Whether a kernel has reached out of its buffers.
    strayed: Cell<bool>,
}

impl Device {
    /// Open the `index`th device of [`list`], which must have that `name` where one is given: a
    /// device that disappears moves those behind it up.
    ///
    /// # Errors
    /// Why it cannot be opened.
    pub(crate) fn open(index: usize, name: Option<&str>) -> Result<Device, String> {
        let devices = all()?;
        let names = names(&devices);
        let mut listed = devices.into_iter().zip(names);
        let ((_, device), found) = listed.nth(index).ok_or("it is no longer listed")?;
        if let Some(name) = name.filter(|name| *name != found) {
            return Err(format!("in the place of `{name}` there is `{found}`"));
        }
        let fail = |fault: Fault| fault.finding().detail;
        let context =
            Context::from_device(&device).map_err(Fault::at("make a context")).map_err(fail)?;
        let queue = queue(&context, &device).map_err(fail)?;
        let limits =
            limits(&device).map_err(Fault::at("ask for the device's limits")).map_err(fail)?;
        let bits = device.mem_base_addr_align().unwrap_or(1024);
        let align_bytes = (bits as usize / 8).max(128);
        Ok(Device { context, queue, device, align_bytes, limits, strayed: Cell::new(false) })
    }

    /// What the device allows any kernel.
    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Remember that a kernel has reached out of its buffers.
    pub(crate) fn stray(&self) {
        self.strayed.set(true);
    }

    /// Whether one has: what else this process holds may no longer be what it was.
    pub(crate) fn has_strayed(&self) -> bool {
        self.strayed.get()
    }
}

fn queue(context: &Context, device: &opencl3::device::Device) -> Result<CommandQueue, Fault> {
    // SAFETY: the device is the one that the context was made for.
    let new = unsafe {
        CommandQueue::create_with_properties(context, device.id(), CL_QUEUE_PROFILING_ENABLE, 0)
    };
    if let Ok(queue) = new {
        return Ok(queue);
    }
    #[expect(deprecated, reason = "drivers of OpenCL 1.2 know only this call")]
    // SAFETY: as above.
    let old = unsafe { CommandQueue::create(context, device.id(), CL_QUEUE_PROFILING_ENABLE) };
    old.map_err(Fault::at("make a command queue"))
}

fn limits(device: &opencl3::device::Device) -> opencl3::Result<Limits> {
    let sizes = device.max_work_item_sizes()?;
    let side = |axis: usize| sizes.get(axis).map_or(1, |side| *side as u64);
    Ok(Limits {
        group: device.max_work_group_size()? as u64,
        items: [side(0), side(1), side(2)],
        buffer_bytes: device.max_mem_alloc_size()?,
        memory_bytes: device.global_mem_size()?,
        constant_bytes: device.max_constant_buffer_size()?,
        local_bytes: device.local_mem_size()?,
        images: device.image_support()?,
        image_side: device.image2d_max_width().unwrap_or(0) as u64,
    })
}

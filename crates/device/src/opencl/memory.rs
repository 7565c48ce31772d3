use super::{Device, Fault};
use crate::payload::{ImagePlan, Object, ObjectKind, TexelKind};
use opencl3::{
    event::Event,
    memory::{
        Buffer, CL_FLOAT, CL_MEM_OBJECT_IMAGE1D, CL_MEM_OBJECT_IMAGE1D_ARRAY,
        CL_MEM_OBJECT_IMAGE2D, CL_MEM_OBJECT_IMAGE2D_ARRAY, CL_MEM_OBJECT_IMAGE3D,
        CL_MEM_READ_WRITE, CL_RGBA, CL_SIGNED_INT32, CL_UNSIGNED_INT32, ClMem, Image,
    },
    types::{CL_BLOCKING, cl_image_desc, cl_image_format, cl_mem},
};
use std::ptr::null_mut;

/// Guard bytes before and behind a buffer: four times what it holds, within these bounds. Kernels that
/// stray, stray by an index or by a row.
const GUARD_BYTES: std::ops::RangeInclusive<usize> = (64 << 10)..=(1 << 20);

/// Device memory that a kernel works on.
#[derive(Debug)]
pub(super) enum Memory {
    Buffer(Guarded),
    Image(Image, ImagePlan),
}

/// A buffer in the middle of a larger one, whose ends nobody should touch.
#[derive(Debug)]
pub(super) struct Guarded {
    // Released before the buffer it is part of.
    view: Option<Buffer<u8>>,
    whole: Buffer<u8>,
    guard: usize,
    bytes: usize,
}

impl Memory {
    /// Room for `object`, with guards around it where asked for.
    pub(super) fn new(device: &Device, object: &Object, guarded: bool) -> Result<Memory, Fault> {
        match &object.kind {
            ObjectKind::Image(plan) => {
                image(device, plan).map(|image| Memory::Image(image, plan.clone()))
            }
            _ => Guarded::new(device, object.bytes(), guarded).map(Memory::Buffer),
        }
    }

    pub(super) fn handle(&self) -> cl_mem {
        match self {
            Memory::Buffer(Guarded { view: Some(view), .. }) => view.get(),
            Memory::Buffer(Guarded { whole, .. }) => whole.get(),
            Memory::Image(image, _) => image.get(),
        }
    }

    /// Send `bytes` to the device.
    pub(super) fn write(&mut self, device: &Device, bytes: &[u8]) -> Result<Event, Fault> {
        let event = match self {
            Memory::Buffer(buffer) => {
                let at = buffer.guard;
                // SAFETY: the buffer holds `bytes` behind its guard, and the call returns when
                // they have been read.
                unsafe {
                    device.queue.enqueue_write_buffer(
                        &mut buffer.whole,
                        CL_BLOCKING,
                        at,
                        bytes,
                        &[],
                    )
                }
            }
            Memory::Image(image, plan) => {
                let (from, origin, extent) = (bytes.as_ptr(), [0_usize; 3], plan.extent);
                let (origin, extent) = (origin.as_ptr(), extent.as_ptr());
                // SAFETY: `bytes` holds a texel for each place of the extent, three sides as the
                // call expects, and the call returns when they have been read.
                unsafe {
                    device.queue.enqueue_write_image(
                        image,
                        CL_BLOCKING,
                        origin,
                        extent,
                        0,
                        0,
                        from.cast_mut().cast(),
                        &[],
                    )
                }
            }
        };
        event.map_err(Fault::at("send data to the device"))
    }

    /// Fetch what it holds into `bytes`.
    pub(super) fn read(&self, device: &Device, bytes: &mut [u8]) -> Result<Event, Fault> {
        let event = match self {
            Memory::Buffer(buffer) => {
                let at = buffer.guard;
                // SAFETY: the buffer holds as many bytes behind its guard, and the call returns
                // when they are written.
                unsafe {
                    device.queue.enqueue_read_buffer(&buffer.whole, CL_BLOCKING, at, bytes, &[])
                }
            }
            Memory::Image(image, plan) => {
                let (to, origin, extent) = (bytes.as_mut_ptr(), [0_usize; 3], plan.extent);
                let (origin, extent) = (origin.as_ptr(), extent.as_ptr());
                // SAFETY: `bytes` has room for a texel for each place of the extent, and the call
                // returns when they are written.
                unsafe {
                    device.queue.enqueue_read_image(
                        image,
                        CL_BLOCKING,
                        origin,
                        extent,
                        0,
                        0,
                        to.cast(),
                        &[],
                    )
                }
            }
        };
        event.map_err(Fault::running("fetch data from the device"))
    }

    /// Fill the guards with `pattern`.
    pub(super) fn set_guards(&mut self, device: &Device, pattern: u8) -> Result<(), Fault> {
        let Memory::Buffer(buffer) = self else { return Ok(()) };
        let guard = vec![pattern; buffer.guard];
        for at in buffer.guards() {
            // SAFETY: both guards lie inside of the buffer, and the call returns when the bytes
            // have been read.
            let sent = unsafe {
                device.queue.enqueue_write_buffer(&mut buffer.whole, CL_BLOCKING, at, &guard, &[])
            };
            sent.map_err(Fault::at("send guard bytes to the device"))?;
        }
        Ok(())
    }

    /// Where the guards are no longer `pattern`: bytes before the buffer (negative) or behind it.
    pub(super) fn broken_guard(&self, device: &Device, pattern: u8) -> Result<Option<i64>, Fault> {
        let Memory::Buffer(buffer) = self else { return Ok(None) };
        let mut guard = vec![0; buffer.guard];
        for at in buffer.guards() {
            // SAFETY: both guards lie inside of the buffer, and the call returns when the bytes
            // are written.
            let fetched = unsafe {
                device.queue.enqueue_read_buffer(&buffer.whole, CL_BLOCKING, at, &mut guard, &[])
            };
            fetched.map_err(Fault::running("fetch guard bytes from the device"))?;
            if let Some(found) = other_than(pattern, &guard) {
                let start = if at == 0 { -(buffer.guard as i64) } else { 0 };
                return Ok(Some(start + found as i64));
            }
        }
        Ok(None)
    }
}

/// The place of the first byte that is not `pattern`. Whole runs are compared at once: guards are
/// large, and almost always intact.
fn other_than(pattern: u8, bytes: &[u8]) -> Option<usize> {
    const RUN: usize = 256;
    let broken = |run: &[u8]| run.iter().fold(0, |all, byte| all | (byte ^ pattern)) != 0;
    let run = bytes.chunks(RUN).position(broken)? * RUN;
    bytes[run..].iter().position(|byte| *byte != pattern).map(|place| run + place)
}

impl Guarded {
    fn new(device: &Device, bytes: usize, guarded: bool) -> Result<Guarded, Fault> {
        let align = device.align_bytes;
        let guard = match guarded {
            true => {
                (bytes * 4).clamp(*GUARD_BYTES.start(), *GUARD_BYTES.end()).next_multiple_of(align)
            }
            false => 0,
        };
        let room = bytes + 2 * guard;
        // SAFETY: no host memory is handed over.
        let whole =
            unsafe { Buffer::<u8>::create(&device.context, CL_MEM_READ_WRITE, room, null_mut()) };
        let whole = whole.map_err(Fault::at("make a buffer"))?;
        let view = match guarded {
            true => {
                // SAFETY: the part lies inside of the buffer and begins as the device wants it.
                let view = unsafe { whole.create_sub_buffer(CL_MEM_READ_WRITE, guard, bytes) };
                Some(view.map_err(Fault::at("make a part of a buffer"))?)
            }
            false => None,
        };
        Ok(Guarded { view, whole, guard, bytes })
    }

    /// Where its guards begin.
    fn guards(&self) -> impl Iterator<Item = usize> + use<> {
        let (guard, bytes) = (self.guard, self.bytes);
        (guard > 0).then_some([0, guard + bytes]).into_iter().flatten()
    }
}

fn image(device: &Device, plan: &ImagePlan) -> Result<Image, Fault> {
    let kind = match (plan.dimensions, plan.array) {
        (1, false) => CL_MEM_OBJECT_IMAGE1D,
        (1, true) => CL_MEM_OBJECT_IMAGE1D_ARRAY,
        (2, false) => CL_MEM_OBJECT_IMAGE2D,
        (2, true) => CL_MEM_OBJECT_IMAGE2D_ARRAY,
        _ => CL_MEM_OBJECT_IMAGE3D,
    };
    let [width, height, depth] = plan.extent;
    let layers = match (plan.array, plan.dimensions) {
        (true, 1) => height,
        (true, _) => depth,
        (false, _) => 0,
    };
    let format = cl_image_format {
        image_channel_order: CL_RGBA,
        image_channel_data_type: match plan.texel {
            TexelKind::Float => CL_FLOAT,
            TexelKind::Signed => CL_SIGNED_INT32,
            TexelKind::Unsigned => CL_UNSIGNED_INT32,
        },
    };
    let description = cl_image_desc {
        image_type: kind,
        image_width: width,
        image_height: if plan.dimensions >= 2 { height } else { 0 },
        image_depth: if plan.dimensions == 3 { depth } else { 0 },
        image_array_size: layers,
        image_row_pitch: 0,
        image_slice_pitch: 0,
        num_mip_levels: 0,
        num_samples: 0,
        buffer: null_mut(),
    };
    // SAFETY: format and description outlive the call, and no host memory is handed over.
    let image = unsafe {
        Image::create(&device.context, CL_MEM_READ_WRITE, &format, &description, null_mut())
    };
    image.map_err(Fault::at("make an image"))
}

#[cfg(test)]
mod tests {
    use super::other_than;

    #[test]
    fn the_first_broken_byte_is_found_wherever_it_is() {
        assert_eq!(other_than(7, &[7; 1000]), None);
        for place in [0, 255, 256, 999] {
            let mut bytes = [7; 1000];
            bytes[place] = 8;
            assert_eq!(other_than(7, &bytes), Some(place));
        }
    }
}

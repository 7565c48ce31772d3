//! Which device to use.

use anyhow::bail;
use std::sync::Once;
use tch::Device;

/// The device called `name`: `cpu`, `cuda`, or `auto` for CUDA where there is one.
///
/// # Errors
/// When CUDA is asked for and libtorch finds none, with what to look at.
pub(crate) fn choose(name: &str) -> anyhow::Result<Device> {
    match name {
        "cpu" => Ok(Device::Cpu),
        "auto" => {
            // Without it there is no CUDA device, which is an answer here.
            let _ = load_cuda();
            Ok(Device::cuda_if_available())
        }
        "cuda" => {
            let loaded = load_cuda();
            if tch::Cuda::is_available() {
                return Ok(Device::Cuda(0));
            }
            match loaded {
                Err(why) => bail!(
                    "libtorch's CUDA part cannot be loaded ({why}): `scripts/torch.sh --gpu` fetches what it needs; `--device cpu` needs nothing"
                ),
                Ok(()) => bail!(
                    "no CUDA device: is a GPU there and its driver loaded (`nvidia-smi`)? `--device cpu` needs neither"
                ),
            }
        }
        other => bail!("no device `{other}`; there are cpu, cuda and auto"),
    }
}

/// Whether products are made in bf16: as `precision` says, or else on a GPU.
///
/// # Errors
/// When it names neither `bf16` nor `f32`.
pub(crate) fn half(precision: Option<&str>, device: Device) -> anyhow::Result<bool> {
    match precision {
        Some("bf16") => Ok(true),
        Some("f32") => Ok(false),
        None => Ok(device.is_cuda()),
        Some(other) => bail!("no precision `{other}`; there are bf16 and f32"),
    }
}

/// Whether a panic of libtorch says that memory ran out.
pub(crate) fn says_no_memory(panic: &(dyn std::any::Any + Send)) -> bool {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or_default();
    text.contains("out of memory") || text.contains("can't allocate memory")
}

/// One line about what is here.
pub(crate) fn describe() -> String {
    let loaded = load_cuda();
    serde_json::json!({
        "cpu_threads": tch::get_num_threads(),
        "cuda_devices": tch::Cuda::device_count(),
        "cudnn": tch::Cuda::cudnn_is_available(),
        "cuda_library": loaded.err().unwrap_or_default(),
    })
    .to_string()
}

/// libtorch's CUDA part registers itself when it is loaded; nothing here links it, so that the same
/// program runs where there is none.
#[expect(unsafe_code, reason = "loading a shared library runs its initialisers")]
fn load_cuda() -> Result<(), String> {
    use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_NOW};
    static ONCE: Once = Once::new();
    static RESULT: std::sync::Mutex<Option<String>> = std::sync::Mutex::new(None);
    ONCE.call_once(|| {
        // SAFETY: libtorch_cuda is made to be loaded this way; its initialisers only register
        // kernels. It is never unloaded.
        match unsafe { Library::open(Some("libtorch_cuda.so"), RTLD_NOW | RTLD_GLOBAL) } {
            Ok(library) => std::mem::forget(library),
            Err(error) => {
                if let Ok(mut result) = RESULT.lock() {
                    // Its own text does not say which library lacks what.
                    let why = std::error::Error::source(&error).map(ToString::to_string);
                    *result = Some(why.unwrap_or_else(|| error.to_string()));
                }
            }
        }
    });
    match RESULT.lock().ok().and_then(|result| result.clone()) {
        Some(error) => Err(error),
        None => Ok(()),
    }
}

/// Wait for everything queued on `device`, so that a clock means something.
pub(crate) fn wait(device: Device) {
    if let Device::Cuda(at) = device {
        tch::Cuda::synchronize(at as i64);
    }
}

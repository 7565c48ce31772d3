//! The device worker: holds the OpenCL drivers so that a kernel that breaks one takes nothing else
//! along. Started by `device`'s client, never by hand.

fn main() -> std::process::ExitCode {
    match stampmill_device::serve_worker() {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("stampmill-device: {error}");
            std::process::ExitCode::FAILURE
        }
    }
}

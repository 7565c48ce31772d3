//! Makes a sandbox and starts a program in it: see [`sandbox::launch`].

fn main() -> std::process::ExitCode {
    sandbox::launch()
}

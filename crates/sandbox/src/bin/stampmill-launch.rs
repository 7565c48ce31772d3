//! Makes a sandbox and starts a program in it: see [`stampmill_sandbox::launch`].

fn main() -> std::process::ExitCode {
    stampmill_sandbox::launch()
}

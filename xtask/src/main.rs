//! Development tasks: `cargo xtask check` runs all that a commit must pass, cheapest first.

mod cases;
mod layers;

use anyhow::{Context, bail};
use std::{
    path::{Path, PathBuf},
    process::{Command, ExitCode, Stdio},
};

const HELP: &str = "cargo xtask TASK

  check            format, layers, lints, tests, docs: all that a commit must pass
  test [ARGS]      all tests but those of the libtorch engine; ends with the line `N passed, N failed, N skipped`
  test-torch [ARGS]   those of the libtorch engine, which STAMPMILL_TORCH names (`make test-torch`)
  test-all         both; without an engine in STAMPMILL_TORCH its tests count as one skipped
  lint             format, layers, clippy with warnings as errors, docs
  layers           only the layer rule of ARCHITECTURE.md
  case COMMAND NAME ARGS...   a new file under cases/COMMAND/, with what the command prints now
  schemas          write docs/schemas.md anew
  bless            write the expected output of all cases anew
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (task, rest) = match arguments.split_first() {
        Some((task, rest)) => (task.as_str(), rest),
        None => ("help", &[][..]),
    };
    let done = match task {
        "check" => lint().and_then(|()| test(&[])).and_then(Counts::told).and_then(|()| docs()),
        "lint" => lint().and_then(|()| docs()),
        "layers" => layers::check(&root()),
        "test" => test(rest).and_then(Counts::told),
        "test-torch" => test_torch(rest).and_then(Counts::told),
        "test-all" => test_all(),
        "case" => cases::new(&root(), rest),
        "schemas" => schemas(),
        "bless" => cases::bless(),
        _ => {
            print!("{HELP}");
            return ExitCode::from(u8::from(task != "help" && task != "--help") * 2);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask {task}: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn lint() -> anyhow::Result<()> {
    cargo(&["fmt", "--all", "--check"])?;
    layers::check(&root())?;
    let clippy = ["clippy", "--release", "--workspace", "--all-targets", "--", "-D", "warnings"];
    cargo(&clippy)?;
    // `--all-targets` leaves out a test that `cargo test` does not run.
    cargo(&["clippy", "--release", "--workspace", "--test", "torch", "--", "-D", "warnings"])
}

fn schemas() -> anyhow::Result<()> {
    let status = Command::new("cargo")
        .args(["test", "--release", "--workspace", "--test", "reference"])
        .current_dir(root())
        .env("BLESS", "1")
        .status()?;
    if !status.success() {
        bail!("docs/schemas.md could not be written");
    }
    Ok(())
}

fn docs() -> anyhow::Result<()> {
    let status = cargo_at_root()
        .args(["doc", "--release", "--workspace", "--no-deps", "--document-private-items"])
        .env("RUSTDOCFLAGS", "-D warnings")
        .status()
        .context("cannot start cargo")?;
    if !status.success() {
        bail!("the documentation has warnings");
    }
    Ok(())
}

/// What test binaries reported, added up.
#[derive(Clone, Copy, Default)]
struct Counts {
    passed: u64,
    failed: u64,
    skipped: u64,
}

impl Counts {
    /// Print the one line that ends every run of tests.
    fn told(self) -> anyhow::Result<()> {
        let Counts { passed, failed, skipped } = self;
        println!("{passed} passed, {failed} failed, {skipped} skipped");
        if failed > 0 || passed == 0 {
            bail!("{failed} tests failed, {passed} passed");
        }
        Ok(())
    }
}

/// Run all tests that need no libtorch.
fn test(arguments: &[String]) -> anyhow::Result<Counts> {
    // Helper binaries are files of their own, which tests find beside them.
    cargo(&["build", "--release", "--workspace"])?;
    follow(&["--no-fail-fast"], arguments)
}

/// Run the tests of training and of the two engines' conformance.
fn test_torch(arguments: &[String]) -> anyhow::Result<Counts> {
    if std::env::var_os("STAMPMILL_TORCH").is_none() {
        bail!("STAMPMILL_TORCH names no engine: `make test-torch` builds it and sets this");
    }
    follow(&["--test", "torch"], arguments)
}

fn test_all() -> anyhow::Result<()> {
    let mut counts = test(&[])?;
    if std::env::var_os("STAMPMILL_TORCH").is_none() {
        println!("skipped: tests of the libtorch engine, which is not built");
        counts.skipped += 1;
    } else {
        let torch = test_torch(&[])?;
        counts.passed += torch.passed;
        counts.failed += torch.failed;
        counts.skipped += torch.skipped;
    }
    counts.told()
}

/// Run `cargo test`, pass its output on and add up the `test result:` lines.
fn follow(which: &[&str], arguments: &[String]) -> anyhow::Result<Counts> {
    use std::io::BufRead;
    let mut child = cargo_at_root()
        .args(["test", "--release", "--workspace"])
        .args(which)
        .args(arguments)
        // Engines that run side by side do not share processors with many threads each.
        .env("OMP_NUM_THREADS", "1")
        .stdout(Stdio::piped())
        .spawn()
        .context("cannot start cargo")?;
    let stdout = child.stdout.take().context("cargo without standard output")?;
    let mut counts = Counts::default();
    for line in std::io::BufReader::new(stdout).split(b'\n') {
        let line = String::from_utf8_lossy(&line?).into_owned();
        println!("{line}");
        if let Some(result) = line.trim_start().strip_prefix("test result:") {
            let mut number = 0;
            for word in result.split_whitespace() {
                match word.trim_end_matches(';') {
                    "passed" => counts.passed += number,
                    "failed" => counts.failed += number,
                    "ignored" => counts.skipped += number,
                    word => number = word.parse().unwrap_or(number),
                }
            }
        } else if line.trim_start().starts_with("skipped:") {
            counts.skipped += 1;
        }
    }
    let status = child.wait()?;
    if !status.success() && counts.failed == 0 {
        bail!("cargo test ended with {status} before all tests ran");
    }
    Ok(counts)
}

/// Cargo at the root, without what the cargo that runs this told it about this package: build scripts
/// that look at such variables would run again, and what depends on them be built anew.
fn cargo_at_root() -> Command {
    let mut command = Command::new(env!("CARGO"));
    command.current_dir(root());
    for (name, _) in std::env::vars_os() {
        let known = name.to_string_lossy();
        if known.starts_with("CARGO_PKG_") || known.starts_with("CARGO_MANIFEST_") {
            command.env_remove(name);
        }
    }
    command
}

fn cargo(arguments: &[&str]) -> anyhow::Result<()> {
    let status = cargo_at_root().args(arguments).status();
    if !status.context("cannot start cargo")?.success() {
        bail!("`cargo {}` failed", arguments.join(" "));
    }
    Ok(())
}

/// The checkout, as it is now: build output is shared by checkouts, so what the build saw may be another.
fn root() -> PathBuf {
    let here = std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or(env!("CARGO_MANIFEST_DIR").into());
    Path::new(&here).parent().map(Path::to_owned).unwrap_or_default()
}

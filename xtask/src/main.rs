//! Development tasks: `cargo xtask check` runs all that a commit must pass, cheapest first.

mod cases;
mod harness;
mod layers;
mod outcomes;

use anyhow::{Context, bail};
use outcomes::Outcomes;
use std::{
    path::{Path, PathBuf},
    process::{Command, ExitCode, Stdio},
};

const HELP: &str = "cargo xtask TASK

  check            format, layers, lints, tests, docs: all that a commit must pass
  test [ARGS]      all tests but those of the libtorch engine; ends with each skipped test and its reason,
                   and the line `N passed, N failed, N skipped`
  test-cluster [ARGS]   those of stages on a cluster of this machine (`make test-cluster`)
  test-torch [ARGS]   those of training and of the libtorch engine, which STAMPMILL_TORCH names (`make test-torch`)
  total FOLDER     the same two ends for all tasks that ran with STAMPMILL_OUTCOMES=FOLDER
  lint             format, layers, harnesses, documents and their links, clippy with warnings as errors, docs
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
        "check" => lint().and_then(|()| test(&[])?.told(task)).and_then(|()| docs()),
        "lint" => lint().and_then(|()| docs()),
        "layers" => layers::check(&root()),
        "test" => test(rest).and_then(|outcomes| outcomes.told(task)),
        "test-cluster" => {
            follow(&["--test", "cluster"], rest).and_then(|outcomes| outcomes.told(task))
        }
        "test-torch" => test_torch(rest).and_then(|outcomes| outcomes.told(task)),
        "total" => outcomes::total(rest),
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
    harness::check(&root())?;
    script("scripts/figures.sh", "tables in documents differ from figures/")?;
    script("scripts/book.py", "documents are not as they should be")?;
    let clippy = ["clippy", "--release", "--workspace", "--all-targets", "--", "-D", "warnings"];
    cargo(&clippy)?;
    // `--all-targets` leaves out tests that `cargo test` does not run.
    let others = ["--test", "torch", "--test", "cluster"];
    cargo(
        &[&["clippy", "--release", "--workspace"], &others[..], &["--", "-D", "warnings"]].concat(),
    )
}

/// What a script checks of the documents: that tables are those of their figures, that links lead somewhere.
fn script(path: &str, otherwise: &str) -> anyhow::Result<()> {
    let status = Command::new(root().join(path)).arg("--check").status();
    match status.with_context(|| format!("cannot start {path}"))?.success() {
        true => Ok(()),
        false => bail!("{otherwise}"),
    }
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

/// Run all tests that need no libtorch.
fn test(arguments: &[String]) -> anyhow::Result<Outcomes> {
    // Helper binaries are files of their own, which tests find beside them.
    cargo(&["build", "--release", "--workspace"])?;
    follow(&["--no-fail-fast"], arguments)
}

/// Run the tests of training, of the two engines' conformance, and of the loop that trains.
fn test_torch(arguments: &[String]) -> anyhow::Result<Outcomes> {
    if std::env::var_os("STAMPMILL_TORCH").is_none() {
        bail!("STAMPMILL_TORCH names no engine: `make test-torch` builds it and sets this");
    }
    follow(&["--test", "torch", "--test", "edits_loop"], arguments)
}

/// Run `cargo test`, pass its output on and add up what the test binaries report.
fn follow(which: &[&str], arguments: &[String]) -> anyhow::Result<Outcomes> {
    use std::io::BufRead;
    let skipped = std::env::temp_dir().join(format!("stampmill-skipped-{}", std::process::id()));
    let mut child = cargo_at_root()
        .args(["test", "--release", "--workspace"])
        .args(which)
        .args(arguments)
        // Engines that run side by side do not share processors with many threads each.
        .env("OMP_NUM_THREADS", "1")
        .env("STAMPMILL_SKIPPED", &skipped)
        .stdout(Stdio::piped())
        .spawn()
        .context("cannot start cargo")?;
    let stdout = child.stdout.take().context("cargo without standard output")?;
    let mut outcomes = Outcomes::default();
    for line in std::io::BufReader::new(stdout).split(b'\n') {
        let line = String::from_utf8_lossy(&line?).into_owned();
        println!("{line}");
        outcomes.add_line(&line);
    }
    let status = child.wait()?;
    outcomes.add_skipped(&std::fs::read_to_string(&skipped).unwrap_or_default());
    // Without it, nothing was skipped.
    let _ = std::fs::remove_file(&skipped);
    if !status.success() && outcomes.failed == 0 {
        bail!("cargo test ended with {status} before all tests ran");
    }
    Ok(outcomes)
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

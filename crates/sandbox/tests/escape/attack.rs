//! The attacks: what their headers say, and how they are compiled.

use crate::source;
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::Mutex,
};

/// Profiles that attacks run under. `series` is `native`, several runs one after the other; `emulator` is
/// that of `time`'s QEMU; the program is run without it.
pub(crate) const PROFILES: &[&str] =
    &["native", "series", "emulator", "compile", "device", "build", "clang"];

/// One program that tries something.
#[derive(Clone, Debug)]
pub(crate) struct Attack {
    pub(crate) name: String,
    pub(crate) profiles: Vec<String>,
    /// Ends that are right: see `inside::is_due`.
    pub(crate) due: Vec<String>,
}

/// All attacks, and the folder with their programs, the victim's and `without`.
pub(crate) struct Programs {
    pub(crate) attacks: Vec<Attack>,
    pub(crate) folder: PathBuf,
}

/// Read and compile all attacks.
pub(crate) fn compiled() -> Result<Programs, String> {
    let mut attacks = Vec::new();
    let folder = fs::read_dir(source("attacks")).map_err(|error| error.to_string())?;
    for entry in folder.flatten() {
        let path = entry.path();
        if path.extension().is_some_and(|extension| extension == "c") {
            attacks.push(read(&path)?);
        }
    }
    attacks.sort_by(|one, other| one.name.cmp(&other.name));
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("attacks");
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut jobs: Vec<(PathBuf, PathBuf)> = attacks
        .iter()
        .map(|attack| (source(&format!("attacks/{}.c", attack.name)), folder.join(&attack.name)))
        .collect();
    for name in ["victim", "without"] {
        jobs.push((source(&format!("escape/{name}.c")), folder.join(name)));
    }
    let (jobs, problems) = (Mutex::new(jobs), Mutex::new(Vec::new()));
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let job = jobs.lock().expect("no thread panics with the lock held").pop();
                    let Some((from, to)) = job else { return };
                    if let Err(problem) = compile(&from, &to) {
                        problems.lock().expect("no thread panics with the lock held").push(problem);
                    }
                }
            });
        }
    });
    let problems = problems.into_inner().expect("no thread panics with the lock held");
    match problems.is_empty() {
        true => Ok(Programs { attacks, folder }),
        false => Err(problems.join("\n")),
    }
}

fn compile(from: &Path, to: &Path) -> Result<(), String> {
    // Beside it and renamed: another run of the suite may be using what is there.
    let new = to.with_extension(format!("new{}", std::process::id()));
    let output = Command::new("gcc")
        .args(["-O1", "-w", "-o"])
        .arg(&new)
        .arg(from)
        .args(["-lpthread", "-lrt"])
        .output()
        .map_err(|error| {
            format!("gcc cannot be started (scripts/setup.sh installs it): {error}")
        })?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{} does not compile: {said}", from.display()));
    }
    fs::rename(&new, to).map_err(|error| format!("{}: {error}", to.display()))
}

/// Read the comment that an attack begins with.
fn read(path: &Path) -> Result<Attack, String> {
    let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let header = text.split("*/").next().unwrap_or_default();
    let field = |name: &str| {
        let line = header.lines().find_map(|line| {
            line.trim_start_matches("/*").trim_start_matches(" *").trim().strip_prefix(name)
        });
        line.map(str::trim)
            .filter(|value| !value.is_empty())
            .ok_or_else(|| format!("{}: no `{name}` in its header", path.display()))
    };
    let words = |text: &str, separator: char| -> Vec<String> {
        text.split(separator).map(|word| word.trim().to_owned()).collect()
    };
    field("tries:")?;
    let mut profiles = match field("profiles:")? {
        "all" => PROFILES.iter().map(|name| (*name).to_owned()).collect(),
        list => words(list, ','),
    };
    // What one run may not do, one of several may not.
    if profiles.iter().any(|name| name == "native") && !profiles.iter().any(|name| name == "series")
    {
        profiles.push("series".to_owned());
    }
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    Ok(Attack { name, profiles, due: words(field("due:")?, '|') })
}

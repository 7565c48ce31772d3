use crate::{Global, output};
use anyhow::{Context, bail};
use host::Helper;
use std::{
    collections::BTreeSet,
    fs::File,
    path::{Path, PathBuf},
    process::{Command, ExitCode},
};

/// The main binary.
const MAIN: &str = "stampmill";
/// The helper binaries that need no clang.
const HELPERS: [Helper; 5] =
    [Helper::LAUNCH, Helper::DEVICE, Helper::CLOCK, Helper::QUERY, Helper::TIMING_PLUGIN];

/// Packed where it is here: `make build` does not make it.
const OPTIONAL: Helper = Helper::OBJECTS;

/// Libraries every Linux machine has, which must be its own: the C library's, the compiler's.
const SYSTEM: &[&str] =
    &["linux-vdso", "ld-linux", "libc.so", "libm.so", "libpthread", "libdl", "librt", "libgcc_s"];

const README: &str = "Stampmill for a machine without compiler or network.\n\
    Start bin/stampmill; libraries it brings are found through lib/ (set LD_LIBRARY_PATH to it).\n";

/// Pack the programs and the shared libraries they need into a `.tar.zst`.
pub(super) fn pack(file: &Path, with_clang: bool, global: &Global) -> anyhow::Result<ExitCode> {
    let main = host::installed(MAIN).context("this program is not `stampmill`")?;
    let mut programs = vec![(MAIN, main)];
    for helper in HELPERS.into_iter().chain(with_clang.then_some(Helper::CLANG)) {
        programs.push((helper.name, helper.find()?));
    }
    let left_out = match OPTIONAL.find() {
        Ok(path) => {
            programs.push((OPTIONAL.name, path));
            None
        }
        Err(missing) => Some(missing),
    };
    let mut libraries = BTreeSet::new();
    for (_, path) in &programs {
        libraries.extend(shared_libraries(path)?);
    }
    let partial = file.with_extension("partial");
    let written = write(&partial, &programs, &libraries)
        .and_then(|()| std::fs::rename(&partial, file).context("cannot name the bundle"));
    if written.is_err() {
        // The first error is the one to report.
        let _ = std::fs::remove_file(&partial);
    }
    written?;
    let bytes = std::fs::metadata(file)?.len();
    let names: Vec<&str> = programs.iter().map(|(name, _)| *name).collect();
    if global.json {
        let libraries: Vec<_> = libraries.iter().map(|path| path.display().to_string()).collect();
        let report = serde_json::json!({
            "bundle": file, "bytes": bytes, "programs": names, "libraries": libraries,
            "left_out": left_out.iter().map(|missing| missing.helper.name).collect::<Vec<_>>(),
        });
        output::json(&report)?;
    } else {
        let size = output::count(bytes / 1024);
        output::line(&format!(
            "{}: {} and {} libraries, {size} KiB",
            file.display(),
            names.join(", "),
            libraries.len()
        ))?;
        if let Some(missing) = left_out {
            output::line(&format!("left out, so that it reads no data sets at s3://: {missing}"))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn write(
    file: &Path,
    programs: &[(&str, PathBuf)],
    libraries: &BTreeSet<PathBuf>,
) -> anyhow::Result<()> {
    let target = File::create(file).with_context(|| format!("cannot write {}", file.display()))?;
    let mut archive = tar::Builder::new(zstd::Encoder::new(target, 9)?);
    for (name, path) in programs {
        archive.append_path_with_name(path, format!("stampmill/bin/{name}"))?;
    }
    for path in libraries {
        let name = path.file_name().context("a library without a name")?.to_string_lossy();
        let real = path.canonicalize()?;
        archive.append_path_with_name(real, format!("stampmill/lib/{name}"))?;
    }
    let mut header = tar::Header::new_gnu();
    header.set_size(README.len() as u64);
    header.set_mode(0o644);
    archive.append_data(&mut header, "stampmill/README", README.as_bytes())?;
    archive.into_inner()?.finish()?.sync_all()?;
    Ok(())
}

/// The shared libraries that the dynamic linker would load, but for the system's own.
fn shared_libraries(program: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let output = Command::new("ldd").arg(program).output().context("cannot run ldd")?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut found = Vec::new();
    for line in text.lines() {
        let Some((name, rest)) = line.trim().split_once(" => ") else { continue };
        if SYSTEM.iter().any(|system| name.starts_with(system)) {
            continue;
        }
        match rest.split_whitespace().next() {
            Some(path) if path.starts_with('/') => found.push(PathBuf::from(path)),
            _ => bail!("{} needs {name}, which is not on this machine", program.display()),
        }
    }
    Ok(found)
}

//! Making and renewing the files under `cases/`.

use anyhow::{Context, bail};
use std::{fs, path::Path};

/// `case COMMAND NAME ARGS...`: a new case file with what the command prints now.
pub(crate) fn new(root: &Path, arguments: &[String]) -> anyhow::Result<()> {
    let [command, name, rest @ ..] = arguments else {
        bail!("usage: cargo xtask case COMMAND NAME ARGS...");
    };
    let folder = root.join("cases").join(command);
    fs::create_dir_all(&folder)?;
    let path = folder.join(name).with_extension("case");
    if path.exists() {
        bail!("{} exists already", path.display());
    }
    let quoted: Vec<String> = rest
        .iter()
        .map(|word| if word.contains(' ') { format!("\"{word}\"") } else { word.clone() })
        .collect();
    fs::write(&path, format!("args: {command} {}\nstatus: 0\n", quoted.join(" ")))?;
    renew(&[&format!("{command}/{name}")])?;
    println!("{}:\n{}", path.display(), fs::read_to_string(&path)?);
    Ok(())
}

/// Write the expected output of all cases anew; look at the difference before committing it.
pub(crate) fn bless() -> anyhow::Result<()> {
    renew(&[])
}

fn renew(filter: &[&str]) -> anyhow::Result<()> {
    let status = crate::cargo_at_root()
        .args(["test", "--release", "--workspace", "--test", "cases", "--"])
        .args(filter)
        .env("BLESS", "1")
        .status()
        .context("cannot start cargo")?;
    if !status.success() {
        bail!("the cases could not be run");
    }
    Ok(())
}

//! The layer rule: a crate uses only crates of lower layers, as the table in ARCHITECTURE.md says.

use anyhow::{Context, bail};
use std::{collections::BTreeMap, fs, path::Path};

/// Check every crate under `crates/` against the table.
pub(crate) fn check(root: &Path) -> anyhow::Result<()> {
    let text = fs::read_to_string(root.join("ARCHITECTURE.md")).context("no ARCHITECTURE.md")?;
    let layers = table(&text);
    let mut complaints = Vec::new();
    for entry in fs::read_dir(root.join("crates"))? {
        let folder = entry?;
        let Ok(text) = fs::read_to_string(folder.path().join("Cargo.toml")) else { continue };
        let manifest: toml::Table = text.parse()?;
        let name = folder.file_name();
        let name = name.to_str().context("a crate's folder whose name is no text")?;
        let Some(layer) = layers.get(name) else {
            complaints.push(format!("`{name}` is not in ARCHITECTURE.md's table of layers"));
            continue;
        };
        let used = manifest.get("dependencies").and_then(toml::Value::as_table);
        for used in used.into_iter().flat_map(|table| table.keys()) {
            if let Some(other) = layers.get(used.as_str())
                && other >= layer
            {
                complaints.push(format!(
                    "`{name}` (layer {layer}) uses `{used}` (layer {other}): only lower layers"
                ));
            }
        }
    }
    if !complaints.is_empty() {
        complaints.sort();
        bail!("{}", complaints.join("\n"));
    }
    Ok(())
}

/// The rows `| layer | `crate` | ...` of the table.
fn table(text: &str) -> BTreeMap<String, u32> {
    text.lines()
        .filter_map(|line| {
            let mut cells = line.split('|').map(str::trim).skip(1);
            let layer = cells.next()?.parse().ok()?;
            let name = cells.next()?.trim_matches('`').to_owned();
            Some((name, layer))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn rows_with_a_number_are_crates() {
        let text =
            "| layer | crate | owns |\n|---|---|---|\n| 0 | `dataset` | x |\n| 5 | `cli` | y |\n";
        let table = super::table(text);
        assert_eq!(table.get("cli"), Some(&5));
        assert_eq!(table.len(), 2);
    }
}

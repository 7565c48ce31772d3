//! What a package's own metadata says.

use super::spdx_expression;

/// The license in a `PKG-INFO`, `METADATA`, `Cargo.toml` or `pyproject.toml`; `None` for other files,
/// empty for one that names none.
pub(super) fn read(path: &str, text: &str) -> Option<String> {
    match path.rsplit('/').next()? {
        "PKG-INFO" | "METADATA" => Some(python(text)),
        "Cargo.toml" => Some(field(text, &["package"])),
        "pyproject.toml" => Some(field(text, &["project", "tool.poetry"])),
        _ => None,
    }
}

fn field(text: &str, tables: &[&str]) -> String {
    let Ok(parsed) = text.parse::<toml::Table>() else { return String::new() };
    let license = tables.iter().find_map(|table| {
        let mut at = parsed.get(table.split('.').next()?)?;
        for name in table.split('.').skip(1) {
            at = at.get(name)?;
        }
        let license = at.get("license")?;
        license.as_str().or_else(|| license.get("text")?.as_str())
    });
    license.map(spdx_expression).unwrap_or_default()
}

/// Core metadata: `License-Expression`, the classifiers, the free text, in this order.
fn python(text: &str) -> String {
    let head = text.split("\n\n").next().unwrap_or(text);
    let values = |name: &'static str| {
        head.lines()
            .filter_map(move |line| line.strip_prefix(name)?.strip_prefix(':'))
            .map(str::trim)
    };
    if let Some(expression) =
        values("License-Expression").map(spdx_expression).find(|e| !e.is_empty())
    {
        return expression;
    }
    let mut classified: Vec<&str> = values("Classifier")
        .filter_map(|classifier| classifier.strip_prefix("License ::")?.rsplit("::").next())
        .filter_map(|name| classifier_license(name.trim()))
        .collect();
    classified.sort_unstable();
    classified.dedup();
    if !classified.is_empty() {
        return classified.join(" OR ");
    }
    values("License")
        .map(spdx_expression)
        .find(|expression| !expression.is_empty())
        .unwrap_or_default()
}

fn classifier_license(name: &str) -> Option<&'static str> {
    Some(match name {
        "MIT License" => "MIT",
        "BSD License" => "BSD-3-Clause",
        "Apache Software License" => "Apache-2.0",
        "ISC License (ISCL)" => "ISC",
        "Boost Software License 1.0 (BSL-1.0)" => "BSL-1.0",
        "zlib/libpng License" => "Zlib",
        "Mozilla Public License 2.0 (MPL 2.0)" => "MPL-2.0",
        "GNU General Public License v2 (GPLv2)" => "GPL-2.0-only",
        "GNU General Public License v2 or later (GPLv2+)" => "GPL-2.0-or-later",
        "GNU General Public License v3 (GPLv3)" => "GPL-3.0-only",
        "GNU General Public License v3 or later (GPLv3+)" => "GPL-3.0-or-later",
        "GNU Lesser General Public License v3 (LGPLv3)" => "LGPL-3.0-only",
        "GNU Lesser General Public License v3 or later (LGPLv3+)" => "LGPL-3.0-or-later",
        "GNU Lesser General Public License v2 or later (LGPLv2+)" => "LGPL-2.0-or-later",
        _ => return None,
    })
}

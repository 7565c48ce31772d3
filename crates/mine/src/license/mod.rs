//! Which license a file is under: what it says itself, else what stands nearest to it.

mod debian;
mod folder;
mod header;
mod metadata;
mod text;

pub use folder::{FileLicense, PackageLicenses, licenses_of};

use crate::{
    find::decode,
    source::Package,
    tree::{Role, folder, role},
};
use dataset::content_hash;
use std::collections::{BTreeMap, HashMap};

/// What was found out about one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Found {
    /// SPDX expression, or empty.
    pub(crate) expression: String,
    /// What it was read from, or empty.
    pub(crate) source: &'static str,
    /// Identity of the license's text as the package has it, or empty.
    pub(crate) text_id: String,
}

/// What a package says about licenses.
pub(crate) struct Licensing<'a> {
    stated: &'a HashMap<String, String>,
    debian: Option<debian::Copyright>,
    /// License files by their folder: expression and text's id.
    files: BTreeMap<String, (String, String)>,
    metadata: String,
    texts: BTreeMap<String, String>,
}

impl<'a> Licensing<'a> {
    pub(crate) fn of(package: &'a Package) -> Licensing<'a> {
        let mut texts = BTreeMap::new();
        let mut files: BTreeMap<String, (String, String)> = BTreeMap::new();
        let mut metadata = package.license.clone();
        let mut copyright = package.copyright.clone();
        for (path, content) in
            package.tree.iter().filter(|(path, _)| role(path) == Some(Role::License))
        {
            let Some(decoded) = decode(content) else { continue };
            if path == "debian/copyright" {
                copyright.get_or_insert(decoded.text);
                continue;
            }
            if let Some(found) = metadata::read(path, &decoded.text) {
                let shallow = path.matches('/').count() <= 1;
                if metadata.is_empty() && shallow {
                    metadata = found;
                }
                continue;
            }
            let expression = text::detect(&decoded.text);
            if expression.is_empty() {
                continue;
            }
            let id = content_hash(decoded.text.as_bytes());
            // Several license files in one folder leave the choice open only if their names say
            // so; `COPYING` and `COPYING.LIB`, `LICENSE-MIT` and `LICENSE-APACHE` do.
            files
                .entry(folder(path).to_owned())
                .and_modify(|(known, _)| {
                    if !known.split(" OR ").any(|one| one == expression) {
                        known.push_str(" OR ");
                        known.push_str(&expression);
                    }
                })
                .or_insert((expression, id.clone()));
            texts.insert(id, decoded.text);
        }
        let debian = copyright.as_deref().and_then(debian::Copyright::parse);
        for text in debian.iter().flat_map(debian::Copyright::texts) {
            texts.insert(content_hash(text.as_bytes()), text.to_owned());
        }
        Licensing { stated: &package.tree.stated_licenses, debian, files, metadata, texts }
    }

    /// The license of the file at `path`, whose text (or whose embedded kernel) is `text`.
    pub(crate) fn of_file(&self, path: &str, text: &str) -> Found {
        let nearest = self.nearest(path);
        let text_id =
            |found: Option<&(String, String)>| found.map(|(_, id)| id.clone()).unwrap_or_default();
        if let Some(expression) = header::spdx(text) {
            return Found {
                expression,
                source: "spdx-header",
                text_id: text_id(nearest.map(|(_, found)| found)),
            };
        }
        if let Some(expression) = self.stated.get(path) {
            let expression = expression.clone();
            return Found { expression, source: "metadata", text_id: String::new() };
        }
        if let Some(expression) = header::prose(text) {
            return Found {
                expression: expression.to_owned(),
                source: "header-text",
                text_id: text_id(nearest.map(|(_, found)| found)),
            };
        }
        if let Some((expression, text)) =
            self.debian.as_ref().and_then(|debian| debian.of_file(path))
        {
            let text_id =
                if text.is_empty() { String::new() } else { content_hash(text.as_bytes()) };
            return Found { expression, source: "debian-copyright", text_id };
        }
        match nearest {
            // What the whole package says of itself counts more than a file at its top.
            Some((folder, (_, id))) if folder.is_empty() && !self.metadata.is_empty() => {
                Found { expression: self.metadata.clone(), source: "metadata", text_id: id.clone() }
            }
            Some((_, (expression, id))) => Found {
                expression: expression.clone(),
                source: "license-file",
                text_id: id.clone(),
            },
            None if !self.metadata.is_empty() => Found {
                expression: self.metadata.clone(),
                source: "metadata",
                text_id: String::new(),
            },
            None => Found::default(),
        }
    }

    /// The license file in the file's folder or the nearest above it.
    fn nearest(&self, path: &str) -> Option<(&str, &(String, String))> {
        let mut at = folder(path);
        loop {
            if let Some((folder, found)) = self.files.get_key_value(at) {
                return Some((folder.as_str(), found));
            }
            if at.is_empty() {
                // Some projects keep it with their documentation.
                let found = ["docs", "doc", "LICENSES", "licenses"]
                    .iter()
                    .find_map(|f| self.files.get_key_value(*f));
                return found.map(|(_, found)| ("", found));
            }
            at = folder(at);
        }
    }

    /// The license text of an id that [`Licensing::of_file`] gave.
    pub(crate) fn text(&self, id: &str) -> Option<&str> {
        self.texts.get(id).map(String::as_str)
    }
}

/// The expression in the spelling of SPDX; empty for what is none.
pub(crate) fn spdx_expression(text: &str) -> String {
    // A slash is Rust's old way of writing a choice.
    let text = text.trim().replace('/', " OR ");
    match spdx::Expression::parse_mode(&text, spdx::ParseMode::LAX) {
        Ok(parsed) => parsed.to_string(),
        Err(_) => spdx::imprecise_license_id(&text)
            .filter(|(_, length)| *length == text.len())
            .map(|(id, _)| id.name.to_owned())
            .unwrap_or_default(),
    }
}

/// For the fuzzer: the expressions that `text` is read as, for the file at `path`.
pub(crate) fn all_of(text: &str, path: &str) -> Vec<String> {
    let mut all = vec![spdx_expression(text)];
    all.extend(header::spdx(text));
    all.extend(header::prose(text).map(str::to_owned));
    let files = ["PKG-INFO", "Cargo.toml", "pyproject.toml"];
    all.extend(files.into_iter().filter_map(|file| metadata::read(file, text)));
    if let Some(copyright) = debian::Copyright::parse(text) {
        all.extend(copyright.of_file(path).map(|(expression, _)| expression));
    }
    all.retain(|expression| !expression.is_empty());
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn license(files: &[(&str, &str)], path: &str) -> (String, &'static str) {
        let mut package = Package::new("p", "1");
        for (path, text) in files {
            package.tree.offer(path, None, &mut text.as_bytes()).unwrap();
        }
        let text = files.iter().find(|(name, _)| *name == path).map_or("", |(_, text)| text);
        let found = Licensing::of(&package).of_file(path, text);
        (found.expression, found.source)
    }

    const MIT: &str = "MIT License\n\nCopyright (c) 2020 A\n\nPermission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation files (the \"Software\"), to deal in the Software without restriction, including without limitation the rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is furnished to do so, subject to the following conditions:\n\nThe above copyright notice and this permission notice shall be included in all copies or substantial portions of the Software.\n\nTHE SOFTWARE IS PROVIDED \"AS IS\", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.\n";

    #[test]
    fn a_file_says_it_itself_before_others_do() {
        let files = [
            ("LICENSE", MIT),
            ("sub/a.cl", "/* SPDX-License-Identifier: GPL-2.0-or-later */ kernel void a() {}"),
            ("b.cl", "// Licensed under the Apache License, Version 2.0 (the \"License\")\n"),
            (
                "d.rs",
                "// Licensed under the Apache License, Version 2.0 <LICENSE-APACHE> or the MIT\n\
                 // license <LICENSE-MIT>, at your option.\n",
            ),
            ("sub/c.cl", "kernel void c() {}"),
        ];
        assert_eq!(license(&files, "sub/a.cl"), ("GPL-2.0-or-later".into(), "spdx-header"));
        assert_eq!(license(&files, "b.cl"), ("Apache-2.0".into(), "header-text"));
        assert_eq!(license(&files, "d.rs"), ("MIT OR Apache-2.0".into(), "header-text"));
        assert_eq!(license(&files, "sub/c.cl"), ("MIT".into(), "license-file"));
    }

    #[test]
    fn debian_copyright_decides_by_the_last_pattern_that_fits() {
        let copyright = "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n\nFiles: *\nCopyright: 2020 A\nLicense: GPL-2+\n\nFiles: kernels/*.cl\n data/?.cl\nCopyright: B\nLicense: Expat or BSD-3-clause\n\nLicense: Expat\n Do as you like.\n";
        let files = [("debian/copyright", copyright), ("kernels/x.cl", ""), ("y.cl", "")];
        assert_eq!(license(&files, "y.cl"), ("GPL-2.0-or-later".into(), "debian-copyright"));
        assert_eq!(
            license(&files, "kernels/x.cl"),
            ("MIT OR BSD-3-Clause".into(), "debian-copyright")
        );
        assert_eq!(
            license(&files, "data/q.cl"),
            ("MIT OR BSD-3-Clause".into(), "debian-copyright")
        );
    }

    #[test]
    fn metadata_names_the_whole_package() {
        let files = [
            ("Cargo.toml", "[package]\nname = \"x\"\nlicense = \"MIT/Apache-2.0\"\n"),
            ("a.cl", ""),
        ];
        assert_eq!(license(&files, "a.cl"), ("MIT OR Apache-2.0".into(), "metadata"));
        let files = [
            (
                "x-1.dist-info/METADATA",
                "Name: x\nLicense: BSD\nClassifier: License :: OSI Approved :: MIT License\n\nLong text",
            ),
            ("a.cl", ""),
        ];
        assert_eq!(license(&files, "a.cl"), ("MIT".into(), "metadata"));
    }
}

//! `debian/copyright` in its machine-readable form (DEP-5).

use regex::RegexSet;

/// Patterns in one set: one set of all of a long list of files would be larger than a set may be.
const PATTERNS: usize = 256;
/// Patterns that a paragraph may have.
const MOST: usize = 1 << 16;

/// One `Files:` paragraph.
struct Files {
    patterns: Vec<RegexSet>,
    expression: String,
    text: String,
}

/// A parsed `debian/copyright`.
pub(super) struct Copyright {
    files: Vec<Files>,
}

impl Copyright {
    /// `None` for one that is free text, or names files by more or larger patterns than can be looked for.
    pub(super) fn parse(text: &str) -> Option<Copyright> {
        if !text.trim_start().starts_with("Format") {
            return None;
        }
        let paragraphs: Vec<Vec<(&str, String)>> = paragraphs(text);
        let get = |paragraph: &[(&str, String)], name: &str| {
            let field = paragraph.iter().find(|(field, _)| field.eq_ignore_ascii_case(name));
            field.map(|(_, value)| value.clone())
        };
        // Stand-alone paragraphs hold the texts of the short names.
        let texts: Vec<(String, String)> = paragraphs
            .iter()
            .filter(|paragraph| get(paragraph, "Files").is_none())
            .filter_map(|paragraph| get(paragraph, "License"))
            .filter_map(|license| {
                license.split_once('\n').map(|(n, t)| (n.trim().to_owned(), t.to_owned()))
            })
            .collect();
        let mut files = Vec::new();
        for paragraph in &paragraphs {
            let (Some(patterns), Some(license)) =
                (get(paragraph, "Files"), get(paragraph, "License"))
            else {
                continue;
            };
            let (name, text) = license.split_once('\n').unwrap_or((&license, ""));
            let name = name.trim();
            let text = match text.trim() {
                "" => texts.iter().find(|(known, _)| known == name).map_or("", |(_, text)| text),
                text => text,
            };
            // Without this paragraph its files would have the license of an earlier one.
            files.push(Files {
                patterns: sets(&patterns)?,
                expression: expression(name),
                text: text.trim().to_owned(),
            });
        }
        (!files.is_empty()).then_some(Copyright { files })
    }

    /// Expression and text of the last paragraph that names a file.
    pub(super) fn of_file(&self, path: &str) -> Option<(String, &str)> {
        let names = |files: &&Files| files.patterns.iter().any(|set| set.is_match(path));
        let found = self.files.iter().rev().find(names)?;
        (!found.expression.is_empty()).then(|| (found.expression.clone(), found.text.as_str()))
    }

    /// All license texts in it.
    pub(super) fn texts(&self) -> impl Iterator<Item = &str> {
        self.files.iter().map(|files| files.text.as_str()).filter(|text| !text.is_empty())
    }
}

fn paragraphs(text: &str) -> Vec<Vec<(&str, String)>> {
    let mut all = vec![Vec::new()];
    for line in text.lines() {
        if line.trim().is_empty() {
            all.push(Vec::new());
        } else if line.starts_with([' ', '\t']) {
            if let Some((_, value)) =
                all.last_mut().and_then(|p: &mut Vec<(&str, String)>| p.last_mut())
            {
                value.push('\n');
                value.push_str(if line.trim() == "." { "" } else { line.trim() });
            }
        } else if let Some((name, value)) = line.split_once(':')
            && let Some(paragraph) = all.last_mut()
        {
            paragraph.push((name, value.trim().to_owned()));
        }
    }
    all.retain(|paragraph| !paragraph.is_empty());
    all
}

/// The patterns of a paragraph.
fn sets(patterns: &str) -> Option<Vec<RegexSet>> {
    let patterns: Vec<String> = patterns.split_whitespace().map(pattern).collect();
    if patterns.len() > MOST {
        return None;
    }
    patterns.chunks(PATTERNS).map(|some| RegexSet::new(some).ok()).collect()
}

/// A pattern of DEP-5, in which `*` and `?` also stand for slashes.
fn pattern(glob: &str) -> String {
    let mut regex = String::from("^");
    for character in glob.trim_start_matches("./").chars() {
        match character {
            '*' => regex.push_str(".*"),
            '?' => regex.push('.'),
            other => regex.push_str(&regex::escape(&other.to_string())),
        }
    }
    regex + "$"
}

/// DEP-5's short names as an SPDX expression; names that SPDX does not know become references.
fn expression(names: &str) -> String {
    let mut out: Vec<String> = Vec::new();
    let spaced = names.replace(',', " ");
    let mut words = spaced.split_whitespace().peekable();
    while let Some(word) = words.next() {
        match word.to_ascii_lowercase().as_str() {
            "and" | "and/or" => out.push("AND".to_owned()),
            "or" => out.push("OR".to_owned()),
            "with" => {
                // `GPL-2+ with OpenSSL exception`: what it allows more is left out.
                while words.peek().is_some_and(|next| !matches!(*next, "and" | "or")) {
                    words.next();
                }
            }
            _ if out.last().is_none_or(|last| last == "AND" || last == "OR") => {
                out.push(short_name(word))
            }
            _ => {}
        }
    }
    super::spdx_expression(&out.join(" "))
}

fn short_name(name: &str) -> String {
    let lower = name.to_ascii_lowercase();
    let fixed = match lower.as_str() {
        "expat" | "mit" | "mit/x11" | "mit-style" | "x11" => Some("MIT"),
        "bsd-2-clause" | "bsd-2" | "bsd-2-clauses" => Some("BSD-2-Clause"),
        "bsd-3-clause" | "bsd-3" | "bsd" | "bsd-3-clauses" | "bsd-like" => Some("BSD-3-Clause"),
        "bsd-4-clause" => Some("BSD-4-Clause"),
        "apache-2.0" | "apache-2" => Some("Apache-2.0"),
        "apache-2-llvm-exceptions" | "apache-2.0-llvm-exceptions" => {
            Some("Apache-2.0 WITH LLVM-exception")
        }
        "boost-1.0" | "bsl-1.0" | "boost" | "bsl-1" => Some("BSL-1.0"),
        "zlib" | "zlib/libpng" => Some("Zlib"),
        "isc" => Some("ISC"),
        "mpl-2.0" => Some("MPL-2.0"),
        "ncsa" | "uiuc" | "u-of-i-bsd-like" => Some("NCSA"),
        "cc0-1.0" | "cc0" => Some("CC0-1.0"),
        _ => None,
    };
    if let Some(fixed) = fixed {
        return fixed.to_owned();
    }
    for family in ["agpl", "lgpl", "gpl"] {
        let Some(version) = lower.strip_prefix(family).map(|rest| rest.trim_start_matches('-'))
        else {
            continue;
        };
        let later = version.ends_with('+') || version.ends_with("-or-later");
        let number =
            version.trim_end_matches('+').trim_end_matches("-or-later").trim_end_matches("-only");
        let number = if number.contains('.') { number.to_owned() } else { format!("{number}.0") };
        let ending = if later { "or-later" } else { "only" };
        let id = format!("{}-{number}-{ending}", family.to_ascii_uppercase());
        if spdx::license_id(&id).is_some() {
            return id;
        }
    }
    if spdx::license_id(name).is_some() {
        return name.to_owned();
    }
    let plain: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '.' { c } else { '-' }).collect();
    format!("LicenseRef-{plain}")
}

#[cfg(test)]
mod tests {
    use super::Copyright;

    #[test]
    fn a_long_list_of_files_has_the_license_that_it_stands_with() {
        let name = |number: usize| format!("src/{}/{number}.c", "long-name-of-a-folder/".repeat(5));
        let names: Vec<String> = (0..12_000).map(name).collect();
        let text = format!(
            "Format: 1.0\n\n\
             Files: *\nLicense: Expat\n\nFiles: {}\nLicense: GPL-2+\n",
            names.join("\n ")
        );
        let copyright = Copyright::parse(&text).expect("it has two paragraphs");
        let of = |path: &str| copyright.of_file(path).map(|(expression, _)| expression);
        assert_eq!(of("src/other.c").as_deref(), Some("MIT"));
        for number in [0, 255, 256, 11_999] {
            assert_eq!(of(&name(number)).as_deref(), Some("GPL-2.0-or-later"), "{number}");
        }
    }
}

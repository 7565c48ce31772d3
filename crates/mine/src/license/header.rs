//! What the comment at a file's top says.

/// How much of a file is its top.
const TOP: usize = 6 << 10;

fn top(text: &str) -> &str {
    let mut end = text.len().min(TOP);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// The expression of an `SPDX-License-Identifier:` line.
pub(super) fn spdx(text: &str) -> Option<String> {
    let (_, rest) = top(text).split_once("SPDX-License-Identifier:")?;
    let line = rest.lines().next()?;
    let line = line.split("*/").next()?.split("-->").next()?.trim();
    let line = line.trim_end_matches(|c: char| !c.is_ascii_alphanumeric() && c != '+' && c != ')');
    Some(super::spdx_expression(line)).filter(|expression| !expression.is_empty())
}

/// The license a header states in the usual words; white space and comment marks do not matter.
pub(super) fn prose(text: &str) -> Option<&'static str> {
    let words: Vec<&str> = top(text)
        .split(|c: char| c.is_whitespace() || "*/#;".contains(c))
        .filter(|word| !word.is_empty())
        .collect();
    let text = words.join(" ").to_ascii_lowercase();
    let says = |phrase: &str| text.contains(phrase);
    if says("apache license") && says("llvm exceptions") {
        return Some("Apache-2.0 WITH LLVM-exception");
    }
    if says("licensed under the apache license, version 2.0")
        || says("apache.org licenses license-2.0")
    {
        // The choice that most Rust crates offer.
        let or_mit = says("or the mit license") || says("or mit license");
        return Some(if or_mit { "MIT OR Apache-2.0" } else { "Apache-2.0" });
    }
    if says("boost software license") {
        return Some("BSL-1.0");
    }
    if says("mozilla public license, v. 2.0") {
        return Some("MPL-2.0");
    }
    if says("general public license") {
        return gnu(&text);
    }
    if says("redistribution and use in source and binary forms") {
        let endorse = says("neither the name")
            || says("to endorse or promote")
            || says("names of its contributors");
        return Some(if endorse { "BSD-3-Clause" } else { "BSD-2-Clause" });
    }
    if says("permission is hereby granted, free of charge") {
        return Some("MIT");
    }
    if says("permission to use, copy, modify, and/or distribute this software for any purpose")
        || says("permission to use, copy, modify, and distribute this software for any purpose")
    {
        return Some("ISC");
    }
    if says("without any express or implied warranty") && says("altered source versions") {
        return Some("Zlib");
    }
    if says("university of illinois open source license") {
        return Some("NCSA");
    }
    None
}

fn gnu(text: &str) -> Option<&'static str> {
    let lesser = text.contains("lesser general public") || text.contains("library general public");
    let affero = text.contains("affero general public");
    let later = text.contains("any later version") || text.contains("or later");
    let version = ["2.1", "2", "3"].into_iter().find(|version| {
        [format!("version {version}"), format!("v{version}"), format!("license {version}")]
            .iter()
            .any(|phrase| text.contains(phrase.as_str()))
    })?;
    Some(match (affero, lesser, version, later) {
        (true, _, _, true) => "AGPL-3.0-or-later",
        (true, _, _, false) => "AGPL-3.0-only",
        (_, true, "2.1", true) => "LGPL-2.1-or-later",
        (_, true, "2.1", false) => "LGPL-2.1-only",
        (_, true, "2", true) => "LGPL-2.0-or-later",
        (_, true, "2", false) => "LGPL-2.0-only",
        (_, true, _, true) => "LGPL-3.0-or-later",
        (_, true, _, false) => "LGPL-3.0-only",
        (_, false, "3", true) => "GPL-3.0-or-later",
        (_, false, "3", false) => "GPL-3.0-only",
        (_, false, _, true) => "GPL-2.0-or-later",
        (_, false, _, false) => "GPL-2.0-only",
    })
}

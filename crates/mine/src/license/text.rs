//! Full license texts, told apart by spdx's similarity to SPDX's own texts.

use spdx::detection::{Store, TextData};
use std::sync::LazyLock;

/// Below this similarity a text is not taken for the license.
const SURE: f32 = 0.9;

/// Licenses programs are really published under. SPDX lists six hundred; a comparison with each of
/// them would cost most of the time of mining a small package.
const COMMON: &[&str] = &[
    "0BSD",
    "AFL-2.1",
    "AFL-3.0",
    "AGPL-3.0-only",
    "Apache-1.1",
    "Apache-2.0",
    "Artistic-2.0",
    "BSD-1-Clause",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSD-4-Clause",
    "BSL-1.0",
    "CC-BY-4.0",
    "CC-BY-SA-4.0",
    "CC0-1.0",
    "CDDL-1.0",
    "CECILL-2.0",
    "CECILL-2.1",
    "CECILL-B",
    "CECILL-C",
    "EPL-1.0",
    "EPL-2.0",
    "EUPL-1.2",
    "GPL-2.0-only",
    "GPL-3.0-only",
    "HPND",
    "ISC",
    "LGPL-2.0-only",
    "LGPL-2.1-only",
    "LGPL-3.0-only",
    "MIT",
    "MIT-0",
    "MPL-1.1",
    "MPL-2.0",
    "MS-PL",
    "NCSA",
    "OFL-1.1",
    "Python-2.0",
    "Unlicense",
    "W3C",
    "WTFPL",
    "Zlib",
];

static STORE: LazyLock<Store> = LazyLock::new(|| {
    let mut store = Store::new();
    for name in COMMON {
        if let Some(id) = spdx::license_id(name) {
            store.add_license((*name).to_owned(), TextData::from(id.text()));
        }
    }
    store
});

/// The license whose text this is; empty where none is alike enough.
pub(super) fn detect(text: &str) -> String {
    // Longer than any license; the text would be compared line by line.
    if text.len() > 128 << 10 {
        return String::new();
    }
    let found = STORE.analyze(&TextData::from(text));
    if found.score >= SURE {
        return found.name.to_owned();
    }
    super::header::prose(text).map(str::to_owned).unwrap_or_default()
}

//! Which protections held while foreign programs ran: known to who starts them, told in `dataset.json`.

use std::{collections::BTreeMap, sync::OnceLock};

static SOURCE: OnceLock<fn() -> BTreeMap<String, String>> = OnceLock::new();

/// Have `ask` say, when a data set is finished, which protections held in this process, by profile; the
/// first caller's stays. Without one, data sets say nothing of it.
pub fn protections_from(ask: fn() -> BTreeMap<String, String>) {
    SOURCE.get_or_init(|| ask);
}

pub(crate) fn protections() -> BTreeMap<String, String> {
    SOURCE.get().map(|ask| ask()).unwrap_or_default()
}

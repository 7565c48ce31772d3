//! What a person should know of programs that were skipped where no row can tell.

use std::sync::OnceLock;

static LISTENER: OnceLock<fn(&str)> = OnceLock::new();

/// Have `hear` called with each notice; the first caller's stays. Without one, notices are for
/// nobody.
pub fn on_notice(hear: fn(&str)) {
    LISTENER.get_or_init(|| hear);
}

pub(crate) fn tell(text: &str) {
    if let Some(hear) = LISTENER.get() {
        hear(text);
    }
}

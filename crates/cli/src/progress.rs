//! Progress bars on standard error; silent where that is no terminal.

use crate::Global;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::{
    io::IsTerminal,
    sync::{Mutex, PoisonError},
    time::Duration,
};

/// The bar on the terminal, that lines may be written above it.
static SHOWN: Mutex<Option<ProgressBar>> = Mutex::new(None);

/// Write to standard error above the bar, where there is one.
pub(crate) fn above(write: impl FnOnce()) {
    let bar = SHOWN.lock().unwrap_or_else(PoisonError::into_inner).clone();
    match bar {
        Some(bar) => bar.suspend(write),
        None => write(),
    }
}

/// A bar that libraries report to.
pub(crate) struct Bar {
    bar: Mutex<ProgressBar>,
    shown: bool,
    verbose: bool,
}

impl Bar {
    /// A bar that is drawn when a person is looking.
    pub(crate) fn new(global: &Global) -> Bar {
        let shown = !global.is_quiet() && std::io::stderr().is_terminal();
        let bar = Mutex::new(ProgressBar::hidden());
        Bar { bar, shown, verbose: global.verbose > 0 }
    }
}

impl dataset::Progress for Bar {
    fn begin(&self, name: &str, total: u64) {
        let target = match self.shown {
            true => ProgressDrawTarget::stderr(),
            false => ProgressDrawTarget::hidden(),
        };
        let template = match total {
            0 => "{spinner} {prefix} {pos} {wide_msg} {elapsed}",
            _ => "{prefix:<24} {bar:30} {pos}/{len} {elapsed} {per_sec} ETA {eta} {wide_msg}",
        };
        let style =
            ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
        let fresh = ProgressBar::with_draw_target((total > 0).then_some(total), target);
        fresh.set_style(style);
        fresh.set_prefix(name.to_owned());
        fresh.enable_steady_tick(Duration::from_millis(200));
        if let Ok(mut bar) = self.bar.lock() {
            bar.finish_and_clear();
            *SHOWN.lock().unwrap_or_else(PoisonError::into_inner) = Some(fresh.clone());
            *bar = fresh;
        }
    }

    fn advance(&self, units: u64) {
        if let Ok(bar) = self.bar.lock() {
            bar.inc(units);
        }
    }

    fn message(&self, text: &str) {
        let Ok(bar) = self.bar.lock() else { return };
        if self.shown {
            bar.set_message(crate::output::plain(text).into_owned());
        }
        if self.verbose {
            bar.suspend(|| eprintln!("{}", crate::output::plain(text)));
        }
    }

    fn end(&self) {
        if let Ok(bar) = self.bar.lock() {
            bar.finish_and_clear();
        }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        dataset::Progress::end(self);
    }
}

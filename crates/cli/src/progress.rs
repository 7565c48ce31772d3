//! Progress bars on standard error; silent where that is no terminal.

use crate::Global;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::{
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

/// Of work whose units are known.
const COUNTED: &str = "{prefix} {bar:24} {pos}/{len} {elapsed} {per_sec} ETA {eta}";
/// The same with a message: below it, since a terminal of 80 columns has no room beside it.
const COUNTED_AND_TOLD: &str =
    "{prefix} {bar:24} {pos}/{len} {elapsed} {per_sec} ETA {eta}\n  {wide_msg}";
const NOT_COUNTED: &str = "{spinner} {prefix} {pos} {wide_msg} {elapsed}";

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

/// A bar that libraries report to.
pub(crate) struct Bar {
    bar: Mutex<ProgressBar>,
    shown: bool,
    quiet: bool,
    verbose: bool,
}

impl Bar {
    /// A bar that is drawn when a person is looking.
    pub(crate) fn new(global: &Global) -> Bar {
        let quiet = global.is_quiet();
        let shown = global.is_watched();
        let bar = Mutex::new(ProgressBar::hidden());
        Bar { bar, shown, quiet, verbose: global.verbose > 0 }
    }
}

impl dataset::Progress for Bar {
    fn begin(&self, name: &str, total: u64) {
        let target = match self.shown {
            true => ProgressDrawTarget::stderr(),
            false => ProgressDrawTarget::hidden(),
        };
        let fresh = ProgressBar::with_draw_target((total > 0).then_some(total), target);
        fresh.set_style(style(if total > 0 { COUNTED } else { NOT_COUNTED }));
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
            if bar.length().is_some() && bar.message().is_empty() {
                bar.set_style(style(COUNTED_AND_TOLD));
            }
            bar.set_message(crate::output::plain(text).into_owned());
        }
        if self.verbose {
            bar.suspend(|| eprintln!("{}", crate::output::plain(text)));
        }
    }

    fn note(&self, text: &str) {
        if !self.quiet
            && let Ok(bar) = self.bar.lock()
        {
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

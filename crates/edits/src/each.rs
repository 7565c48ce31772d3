//! Work on many programs where no stage does it: searches and games, whose answers are no data set of their own.

use crate::{Error, Result};
use rayon::prelude::*;

/// What `work` answers for each of `items`, in their order, on the threads of [`with_jobs`](crate::with_jobs).
///
/// # Errors
/// At once, when an error is no fault of this machine, and after [`sandbox::stop_all`]. [`Error::Faults`] where this
/// machine failed for some of the items: the others are done by then, and what is known about their programs is cached.
pub(crate) fn each<I: Sync, T: Send>(
    items: &[I],
    work: impl Fn(&I) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let answers: Vec<Result<T>> = items
        .par_iter()
        .map(|item| {
            timing::bounded::check()?;
            match work(item) {
                Err(error) if !error.is_fault() => Err(error),
                answer => Ok(answer),
            }
        })
        .collect::<Result<_>>()?;
    let count = answers.iter().filter(|answer| answer.is_err()).count() as u64;
    let total = answers.len() as u64;
    let all: Result<Vec<T>> = answers.into_iter().collect();
    all.map_err(|first| Error::Faults { count, total, first: first.to_string() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering};

    #[test]
    fn a_fault_ends_the_run_when_all_others_are_done() {
        let done = AtomicU64::new(0);
        let work = |item: &u64| {
            if item % 10 == 3 {
                return Err(Error::Start { what: item.to_string(), reason: "no room".into() });
            }
            done.fetch_add(1, Ordering::Relaxed);
            Ok(item * 2)
        };
        assert_eq!(each(&[1, 2, 4], work).unwrap(), [2, 4, 8]);
        let items: Vec<u64> = (0..100).collect();
        let error = each(&items, work).unwrap_err().to_string();
        assert!(error.starts_with("10 of 100") && error.contains("cannot run 3"), "{error}");
        assert_eq!(done.into_inner(), 93);
        let wrong = |_: &u64| Err::<(), _>(Error::Timing(timing::Error::Cancelled));
        assert!(matches!(each(&items, wrong), Err(Error::Timing(_))));
    }
}

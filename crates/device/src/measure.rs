//! Measuring: repeats of many cells (sizes and devices) in turn, so that drift favours none.

use crate::{
    Finding, Outcome,
    opencl::{Built, Device, Execution, Fault, Times},
    payload::{Job, Payload, Plan, Side},
};
use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant};

/// How hard to try.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Effort {
    /// Relative width of the 95 % confidence interval of the median to reach.
    pub(crate) precision: f64,
    /// Time to spend on one cell, warm-up included.
    pub(crate) budget: Duration,
}

/// Fewer repeats have no confidence interval.
pub(crate) const LEAST: usize = 6;
/// More repeats are not worth their time.
pub(crate) const MOST: usize = 100;
/// Repeats of a cell whose budget is spent early.
const LEAST_IN_HASTE: usize = 3;
/// Bytes of payloads that are kept on the devices at a time.
const TOGETHER: u64 = 1 << 30;

/// What was measured of one kernel at one size on one device; times are medians.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Measurement {
    pub(crate) transfer_time_ns: u64,
    pub(crate) kernel_time_ns: u64,
    pub(crate) wall_time_ns: u64,
    pub(crate) repeats: u32,
    /// Relative width of the 95 % confidence interval of the kernel time's median, where there are
    /// enough repeats for one.
    pub(crate) interval: Option<f64>,
}

/// One kernel at one size on one device.
pub(crate) struct Cell<'a> {
    pub(crate) device: &'a Device,
    pub(crate) built: &'a Built,
    pub(crate) job: Job,
    pub(crate) plan: Plan,
}

/// Measure all cells.
pub(crate) fn measure(cells: &[Cell<'_>], effort: &Effort) -> Vec<Result<Measurement, Finding>> {
    let mut results = Vec::with_capacity(cells.len());
    let mut begin = 0;
    while begin < cells.len() {
        let mut bytes = 0;
        let count = cells[begin..].iter().take_while(|cell| {
            bytes += cell.plan.bytes();
            bytes <= TOGETHER
        });
        let end = begin + count.count().max(1);
        results.extend(in_turn(&cells[begin..end], effort));
        begin = end;
    }
    results
}

struct Running<'a> {
    execution: Execution<'a>,
    payload: Payload,
    times: Vec<Times>,
    spent: Duration,
    fault: Option<Fault>,
}

fn in_turn(cells: &[Cell<'_>], effort: &Effort) -> Vec<Result<Measurement, Finding>> {
    let mut running: Vec<Result<Running<'_>, Finding>> = cells.iter().map(start).collect();
    let mut spoilt = false;
    loop {
        let mut busy = false;
        for cell in running.iter_mut().flatten() {
            if spoilt || cell.is_done(effort) {
                continue;
            }
            busy = true;
            cell.repeat();
            spoilt |= cell.fault.as_ref().is_some_and(Fault::spoils);
        }
        if !busy {
            break;
        }
    }
    let finish = |cell: Result<Running<'_>, Finding>| {
        let cell = cell?;
        let result = cell.result();
        if spoilt {
            // Releasing memory of a broken device may fail too; the worker is about to end anyway.
            std::mem::forget(cell.execution);
        }
        result
    };
    running.into_iter().map(finish).collect()
}

fn start<'a>(cell: &'a Cell<'_>) -> Result<Running<'a>, Finding> {
    let names = cell.job.steps.iter().map(|step| step.interface.name.as_str());
    // Guards are not looked at here, but what was checked to do no harm is so beside them.
    let execution = Execution::new(cell.device, cell.built, names, &cell.plan, true)
        .map_err(|fault| fault.finding())?;
    let payload = cell.plan.payload(&cell.job, Side::A);
    let mut running =
        Running { execution, payload, times: Vec::new(), spent: Duration::ZERO, fault: None };
    // Warm-up: the first execution pays for what drivers put off until then.
    running.repeat();
    running.times.clear();
    Ok(running)
}

impl Running<'_> {
    fn repeat(&mut self) {
        let started = Instant::now();
        match self.execution.run(&self.payload) {
            Ok(times) => self.times.push(times),
            Err(fault) => self.fault = Some(fault),
        }
        self.spent += started.elapsed();
    }

    fn kernel_ns(&self) -> Vec<u64> {
        self.times.iter().map(|times| times.kernel_ns).collect()
    }

    fn is_done(&self, effort: &Effort) -> bool {
        let repeats = self.times.len();
        let settled = || {
            repeats >= LEAST
                && interval(&mut self.kernel_ns()).is_some_and(|w| w < effort.precision)
        };
        self.fault.is_some()
            || repeats >= MOST
            || self.spent >= effort.budget && repeats >= LEAST_IN_HASTE
            || settled()
    }

    fn result(&self) -> Result<Measurement, Finding> {
        if let Some(fault) = &self.fault {
            return Err(fault.finding());
        }
        if self.times.is_empty() {
            return Err(Finding::new(Outcome::Crash, "the device failed over another size"));
        }
        let of = |part: fn(&Times) -> u64| median(&self.times.iter().map(part).collect::<Vec<_>>());
        Ok(Measurement {
            transfer_time_ns: of(|times| times.transfer_ns),
            kernel_time_ns: of(|times| times.kernel_ns),
            wall_time_ns: of(|times| times.wall_ns),
            repeats: u32::try_from(self.times.len()).unwrap_or(u32::MAX),
            interval: interval(&mut self.kernel_ns()),
        })
    }
}

/// The middle value, or the mean of the two in the middle, rounded down; 0 of nothing.
fn median(values: &[u64]) -> u64 {
    // Exact up to 2^53 ns, a hundred days.
    statistics::median(values.iter().map(|value| *value as f64)).unwrap_or(0.0) as u64
}

/// Width of the 95 % confidence interval of the median, relative to the median: the order
/// statistics at n/2 ± 0.98 √n, which need no assumption about the distribution.
fn interval(values: &mut [u64]) -> Option<f64> {
    if values.len() < LEAST {
        return None;
    }
    values.sort_unstable();
    let middle = median(values);
    let count = values.len() as f64;
    let half = 0.98 * count.sqrt();
    let low = (count / 2.0 - half).floor().max(1.0) as usize - 1;
    let high = ((count / 2.0 + 1.0 + half).ceil() as usize).min(values.len()) - 1;
    let width = values[high] - values[low];
    Some(width as f64 / middle.max(1) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_median_is_the_middle() {
        assert_eq!(median(&[]), 0);
        assert_eq!(median(&[5, 1, 9]), 5);
        assert_eq!(median(&[5, 1, 9, 7]), 6);
    }

    #[test]
    fn few_repeats_have_no_interval_and_equal_ones_a_narrow_one() {
        assert_eq!(interval(&mut [1; 5]), None);
        assert_eq!(interval(&mut [7; 6]), Some(0.0));
        assert_eq!(interval(&mut [90, 100, 100, 100, 100, 110]), Some(0.2));
    }

    proptest! {
        #[test]
        fn outliers_do_not_widen_the_interval(outlier in 1_000_u64..1_000_000) {
            let mut values = vec![100; 40];
            values[0] = outlier;
            prop_assert_eq!(interval(&mut values), Some(0.0));
        }
    }
}

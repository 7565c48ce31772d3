//! The dynamic checker (CLgen, section 5.2): does a kernel do predictable work?
//!
//! Four executions: A and B with different payloads, A' and B' with the same ones again.
//! - Outputs equal to what was there before: *no output*.
//! - Outputs of A and B equal: *input-insensitive*. Only what was written counts: the rest of a
//!   buffer differs because its input did.
//! - Outputs of A and A' (or B and B') differ: *non-deterministic*. Around each buffer, and in
//!   those that are only written, lie guard bytes, other ones in A' and B'. Where repeating A with
//!   A's guards gives A's output, and with those of A' that of A', it was these that made the
//!   difference, and the kernel reads *out of bounds*; it writes out of bounds where a guard has changed.

mod compare;
mod contest;
mod oclgrind;

pub(crate) use compare::{insensitive, same};
pub(crate) use contest::{Contested, Entrant, contest, joined};
pub(crate) use oclgrind::{Oclgrind, read_log};

use crate::{
    Finding, Outcome,
    kernel::Step,
    opencl::{Built, Device, Execution, Fault},
    payload::{Job, Payload, Plan, Side},
};
use compare::Written;

/// Guard bytes of A and B.
const FIRST: u8 = 0xa5;
/// Guard bytes of A' and B'.
const SECOND: u8 = 0x5b;

/// Execute `plan` four times and judge.
///
/// # Errors
/// When OpenCL refuses something, which is about the size or a crash rather than about outputs.
pub(crate) fn check(
    device: &Device,
    built: &Built,
    job: &Job,
    plan: &Plan,
) -> Result<Finding, Fault> {
    let names = job.steps.iter().map(|step: &Step| step.interface.name.as_str());
    let mut execution = Execution::new(device, built, names, plan, true)?;
    let judged = judge(&mut execution, job, plan);
    if judged.as_ref().is_err_and(Fault::spoils) {
        // Releasing memory of a broken device may fail too; the worker is about to end anyway.
        std::mem::forget(execution);
    }
    if judged.as_ref().is_ok_and(|found| found.outcome == Outcome::OutOfBounds) {
        device.stray();
    }
    judged
}

fn judge(execution: &mut Execution<'_>, job: &Job, plan: &Plan) -> Result<Finding, Fault> {
    let a = plan.payload(job, Side::A);
    let first = match outputs(execution, plan, &a, FIRST)? {
        Ok(outputs) => outputs,
        Err(finding) => return Ok(finding),
    };
    let b = plan.payload(job, Side::B);
    let second = match outputs(execution, plan, &b, FIRST)? {
        Ok(outputs) => outputs,
        Err(finding) => return Ok(finding),
    };
    let before = |payload| Written { plan, payload, pattern: FIRST };
    if compare::unchanged(before(&a), &first) && compare::unchanged(before(&b), &second) {
        return Ok(Finding::new(Outcome::NoOutput, ""));
    }
    if insensitive(before(&a), &first, before(&b), &second) {
        let detail = "two different inputs give the same output";
        return Ok(Finding::new(Outcome::InputInsensitive, detail));
    }
    for (payload, known) in [(&a, &first), (&b, &second)] {
        let again = match outputs(execution, plan, payload, SECOND)? {
            Ok(outputs) => outputs,
            Err(finding) => return Ok(finding),
        };
        let Some(differs) = same(plan, known, FIRST, &again, SECOND) else { continue };
        let third = match outputs(execution, plan, payload, FIRST)? {
            Ok(outputs) => outputs,
            Err(finding) => return Ok(finding),
        };
        let fourth = match outputs(execution, plan, payload, SECOND)? {
            Ok(outputs) => outputs,
            Err(finding) => return Ok(finding),
        };
        let name = &plan.objects[differs].name;
        let guards_decide = same(plan, known, FIRST, &third, FIRST).is_none()
            && same(plan, &again, SECOND, &fourth, SECOND).is_none();
        return Ok(match guards_decide {
            true => Finding::new(
                Outcome::OutOfBounds,
                format!(
                    "`{name}` depends on what lies outside of the buffers or was never written"
                ),
            ),
            false => Finding::new(Outcome::NonDeterministic, format!("in `{name}`")),
        });
    }
    Ok(Finding::new(Outcome::Pass, ""))
}

/// What one execution gives, or that it wrote outside.
fn outputs(
    execution: &mut Execution<'_>,
    plan: &Plan,
    payload: &Payload,
    pattern: u8,
) -> Result<Result<Vec<Vec<u8>>, Finding>, Fault> {
    execution.poison(pattern)?;
    execution.run(payload)?;
    if let Some((object, distance)) = execution.broken_guard(pattern)? {
        let object = &plan.objects[object];
        let detail = outside(&object.name, object.bytes(), distance);
        return Ok(Err(Finding::new(Outcome::OutOfBounds, detail)));
    }
    Ok(Ok(execution.outputs.clone()))
}

/// In words: the first byte outside of a buffer of so many bytes that was written, by its distance as
/// [`Execution::broken_guard`] tells it.
fn outside(name: &str, bytes: usize, distance: i64) -> String {
    let place = match distance {
        -1 => "directly before".to_owned(),
        0 => "directly behind".to_owned(),
        ..0 => format!("{} bytes before", -distance),
        1 => "1 byte behind".to_owned(),
        _ => format!("{distance} bytes behind"),
    };
    format!("writes {place} `{name}` ({bytes} bytes)")
}

#[cfg(test)]
mod tests {
    use super::outside;

    #[test]
    fn what_is_written_outside_is_told_by_its_place_and_the_size_of_the_buffer() {
        for (distance, words) in [
            (0, "writes directly behind `b` (1024 bytes)"),
            (1, "writes 1 byte behind `b` (1024 bytes)"),
            (64, "writes 64 bytes behind `b` (1024 bytes)"),
            (-1, "writes directly before `b` (1024 bytes)"),
            (-4, "writes 4 bytes before `b` (1024 bytes)"),
        ] {
            assert_eq!(outside("b", 1024, distance), words);
        }
    }
}

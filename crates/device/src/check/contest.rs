//! A kernel beside the kernel that it is to replace: the same buffers, the same contents, the same results; then both
//! are timed in turn.

use super::{FIRST, compare, outputs, same};
use crate::{
    Finding, Outcome, check,
    measure::{Effort, LEAST, MOST},
    opencl::{Built, Device, Execution, Fault},
    payload::{Binding, Job, KernelLaunch, ObjectKind, Payload, Plan, Side},
};
use rows::KernelEditVerdict as Verdict;
use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant};

/// How often a slow kernel has to pass again before a candidate is rejected, as far as there is time.
const REPEATS: u32 = 32;
const REPEATING: Duration = Duration::from_secs(2);

/// What came of a candidate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Contested {
    pub(crate) verdict: Verdict,
    pub(crate) detail: String,
    /// Times of the slow kernel and of the candidate, a pair an execution of both; nothing where none was measured.
    pub(crate) times: Vec<(u64, u64)>,
    /// Largest relative difference of a result that is a floating-point number.
    pub(crate) difference: f64,
    /// Bytes that buffers read hold and buffers written hold.
    pub(crate) bytes: u64,
    /// How the candidate's kernels are executed; nothing where it did not come to that.
    pub(crate) launches: Vec<KernelLaunch>,
    /// Whether the worker is in no state to go on.
    pub(crate) spoilt: bool,
}

impl Contested {
    /// A verdict without measurements.
    pub(crate) fn of(verdict: Verdict, detail: impl Into<String>) -> Contested {
        let detail = dataset::without_chance(&detail.into());
        Contested {
            verdict,
            detail,
            times: Vec::new(),
            difference: 0.0,
            bytes: 0,
            launches: Vec::new(),
            spoilt: false,
        }
    }

    /// What a finding about the candidate comes to.
    pub(crate) fn found(Finding { outcome, detail }: Finding) -> Contested {
        let (verdict, detail) = match outcome {
            Outcome::Pass => (Verdict::Accepted, detail),
            Outcome::BuildFailure => (Verdict::DoesNotCompile, detail),
            Outcome::NoKernel | Outcome::NoArguments => (Verdict::InterfaceDiffers, detail),
            Outcome::Refused => (Verdict::Refused, detail),
            Outcome::NoOutput => (Verdict::WrongOutput, "it writes nothing".to_owned()),
            Outcome::InputInsensitive => {
                (Verdict::WrongOutput, "its output does not depend on the input".to_owned())
            }
            Outcome::NonDeterministic | Outcome::Race => (Verdict::NonDeterministic, detail),
            Outcome::OutOfBounds | Outcome::ReadsUnset => (Verdict::OutOfBounds, detail),
            Outcome::Crash => (Verdict::Crashes, detail),
            Outcome::Timeout => (Verdict::Timeout, detail),
            Outcome::InvalidSize | Outcome::UnsupportedArgument => (Verdict::InvalidSize, detail),
            Outcome::OutOfResources => (Verdict::OutOfResources, detail),
        };
        Contested::of(verdict, detail)
    }
}

/// One of the two.
#[derive(Clone, Copy)]
pub(crate) struct Entrant<'a> {
    pub(crate) built: &'a Built,
    pub(crate) job: &'a Job,
    pub(crate) plan: &'a Plan,
}

/// The plans of both on the same objects, which are those of the slow kernel. All buffers are fetched, also those that
/// neither says to write: a candidate may say what is not so.
///
/// # Errors
/// How the arguments of the candidate differ.
pub(crate) fn joined(slow: &Plan, fast: &Plan) -> Result<(Plan, Plan), String> {
    let mut slow = slow.clone();
    if slow.objects.len() != fast.objects.len() || slow.bindings.len() != fast.bindings.len() {
        return Err("the arguments are not the slow kernel's".to_owned());
    }
    for (one, other) in slow.objects.iter_mut().zip(&fast.objects) {
        if one.layout != other.layout || one.kind != other.kind {
            return Err(format!("`{}` is not the slow kernel's `{}`", other.name, one.name));
        }
        one.read |= other.read;
        one.written |= other.written || one.kind == ObjectKind::Global;
    }
    let mut other = slow.clone();
    other.ranges.clone_from(&fast.ranges);
    for (mine, theirs) in other.bindings.iter_mut().flatten().zip(fast.bindings.iter().flatten()) {
        match (&mine, theirs) {
            (Binding::Local(_), Binding::Local(_)) => *mine = theirs.clone(),
            (Binding::Object(one), Binding::Object(two)) if one == two => {}
            (Binding::Value(one, _), Binding::Value(two, _)) if one == two => {}
            (Binding::Sampler, Binding::Sampler) => {}
            _ => return Err("the arguments are not the slow kernel's".to_owned()),
        }
    }
    Ok((slow, other))
}

/// Whether the candidate does what the slow kernel does on so many payloads, and both times. `alter`: all but the first
/// payloads have other integers.
///
/// # Errors
/// When OpenCL refuses something.
pub(crate) fn contest<'a>(
    device: &'a Device,
    slow: Entrant<'a>,
    fast: Entrant<'a>,
    payloads: u32,
    alter: bool,
    effort: &Effort,
) -> Result<Contested, Fault> {
    let found = check::check(device, fast.built, fast.job, fast.plan)?;
    if found.outcome != Outcome::Pass {
        return Ok(blamed(device, slow)?.unwrap_or_else(|| Contested::found(found)));
    }
    let names = |of: Entrant<'a>| of.job.steps.iter().map(|step| step.interface.name.as_str());
    let mut one = Execution::new(device, slow.built, names(slow), slow.plan, true)?;
    let mut other = Execution::new(device, fast.built, names(fast), fast.plan, true)?;
    let both = Both { one: &mut one, other: &mut other, slow, fast };
    let judged = both.judge(payloads, alter, effort);
    if let Ok(rejected) = &judged
        && !matches!(rejected.verdict, Verdict::Accepted | Verdict::SourceFails)
        && let Some(blamed) = blamed(device, slow)?
    {
        return Ok(blamed);
    }
    if judged.as_ref().is_err_and(Fault::spoils) {
        // Releasing memory of a broken device may fail too; the worker is about to end anyway.
        std::mem::forget((one, other));
    }
    judged
}

/// That the slow kernel is to blame for a rejection: repeated, it does not pass either. One that races may pass by luck.
fn blamed(device: &Device, slow: Entrant<'_>) -> Result<Option<Contested>, Fault> {
    let begun = Instant::now();
    for _ in (0..REPEATS).take_while(|_| begun.elapsed() < REPEATING) {
        let found = check::check(device, slow.built, slow.job, slow.plan)?;
        if found.outcome != Outcome::Pass {
            let detail = format!("{} when repeated {}", found.outcome.name(), found.detail);
            return Ok(Some(Contested::of(Verdict::SourceFails, detail.trim_end())));
        }
    }
    Ok(None)
}

struct Both<'a, 'b> {
    one: &'b mut Execution<'a>,
    other: &'b mut Execution<'a>,
    slow: Entrant<'a>,
    fast: Entrant<'a>,
}

impl Both<'_, '_> {
    fn judge(mut self, payloads: u32, alter: bool, effort: &Effort) -> Result<Contested, Fault> {
        let plan = self.slow.plan;
        let mut judged = Contested::of(Verdict::Accepted, "");
        let mut first = Vec::new();
        for number in 0..u64::from(payloads.max(1)) {
            let job =
                Job { seed: self.slow.job.seed.wrapping_add(number), ..self.slow.job.clone() };
            let altered = plan.altered(if alter { number } else { 0 });
            for side in [Side::A, Side::B] {
                let mut payload = altered.payload(&job, side);
                let mut wanted = outputs(self.one, plan, &payload, FIRST)?;
                if wanted.is_err() {
                    // It needs the integers that it was given first.
                    payload = plan.payload(&job, side);
                    wanted = outputs(self.one, plan, &payload, FIRST)?;
                }
                let wanted = match wanted {
                    Ok(wanted) => wanted,
                    Err(found) => return Ok(Contested::of(Verdict::SourceFails, found.detail)),
                };
                let given = match outputs(self.other, plan, &payload, FIRST)? {
                    Ok(given) => given,
                    Err(found) => return Ok(Contested::found(found)),
                };
                if let Some(at) = same(plan, &wanted, FIRST, &given, FIRST) {
                    if let Some(found) = self.wavers(&payload, &wanted)? {
                        return Ok(found);
                    }
                    let name = &plan.objects[at].name;
                    let before = compare::Written { plan, payload: &payload, pattern: FIRST };
                    let verdict = match compare::is_unchanged(before, at, &wanted[at]) {
                        true => Verdict::WritesInput,
                        false => Verdict::WrongOutput,
                    };
                    let what = compare::first_difference(plan, at, &wanted, &given);
                    let difference = compare::difference(plan, &wanted, &given);
                    let detail = format!("in `{name}`{what}");
                    return Ok(Contested { difference, ..Contested::of(verdict, detail) });
                }
                judged.difference =
                    judged.difference.max(compare::difference(plan, &wanted, &given));
                if number == 0 {
                    first.push((payload, wanted));
                }
            }
        }
        if effort.budget > Duration::ZERO {
            self.race(&mut judged, &first, effort)?;
        }
        Ok(judged)
    }

    /// That the slow kernel does not give these results again, which it does by luck if it races.
    fn wavers(
        &mut self,
        payload: &Payload,
        wanted: &[Vec<u8>],
    ) -> Result<Option<Contested>, Fault> {
        let plan = self.slow.plan;
        let begun = Instant::now();
        for _ in (0..REPEATS).take_while(|_| begun.elapsed() < REPEATING) {
            let detail = match outputs(self.one, plan, payload, FIRST)? {
                Ok(again) => match same(plan, wanted, FIRST, &again, FIRST) {
                    None => continue,
                    Some(at) => {
                        format!("non-deterministic when repeated in `{}`", plan.objects[at].name)
                    }
                },
                Err(Finding { outcome, detail }) => format!("{outcome} when repeated: {detail}"),
            };
            return Ok(Some(Contested::of(Verdict::SourceFails, detail)));
        }
        Ok(None)
    }

    /// Times of both in turn, the one that is first changing, on payloads that change, so that no execution finds the
    /// results of the one before it.
    fn race(
        &mut self,
        judged: &mut Contested,
        payloads: &[(Payload, Vec<Vec<u8>>)],
        effort: &Effort,
    ) -> Result<(), Fault> {
        let started = Instant::now();
        let mut round = 0;
        while round < LEAST || round < MOST && started.elapsed() < effort.budget * 2 {
            let (payload, wanted) = &payloads[round / 2 % payloads.len()];
            let (slow, fast);
            if round % 2 == 0 {
                slow = self.one.run(payload)?.kernel_ns;
                fast = self.other.run(payload)?.kernel_ns;
            } else {
                fast = self.other.run(payload)?.kernel_ns;
                slow = self.one.run(payload)?.kernel_ns;
            }
            judged.times.push((slow, fast));
            if let Some(at) = same(self.fast.plan, wanted, FIRST, &self.other.outputs, FIRST) {
                let name = &self.fast.plan.objects[at].name;
                let place = format!("in `{name}`, execution {} of those timed", round + 1);
                // A slow kernel that races may have been lucky so far.
                let own = same(self.slow.plan, wanted, FIRST, &self.one.outputs, FIRST);
                *judged = match own {
                    Some(_) => {
                        Contested::of(Verdict::SourceFails, format!("non-deterministic {place}"))
                    }
                    None => self
                        .wavers(payload, wanted)?
                        .unwrap_or_else(|| Contested::of(Verdict::ChangesLater, place)),
                };
                return Ok(());
            }
            round += 1;
        }
        Ok(())
    }
}

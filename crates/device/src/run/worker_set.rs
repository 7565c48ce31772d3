//! A thread's workers, and questions to them whose deaths are findings.

use crate::{
    DeviceInfo, DeviceType, Error, Finding, Outcome, Result,
    check::Oclgrind,
    kernel::{Benchmark, Step},
    payload::Job,
    worker::{Answer, BuiltFacts, Checked, Client, Launch, Request},
};
use sandbox::{Bounds, Death};
use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{Arc, atomic::AtomicBool},
    time::{Duration, Instant},
};

/// The limit on the wall of what is limited in processor time, as a multiple of that: met only on
/// machines that do much else. What waits for ever is still, and for that the limit itself holds.
const BACKSTOP: u32 = 4;
/// For a driver to open its device, a quarter of it.
const OPEN_LIMIT: Duration = Duration::from_secs(15);

/// A worker for the devices, and one under Oclgrind where that is wanted.
pub struct WorkerSet {
    client: Client,
    /// Names of all devices.
    devices: Vec<String>,
    verifier: Option<Verifier>,
    /// Raised when the user wants no answers any more.
    stop: Arc<AtomicBool>,
    /// What became of the current program on the devices the living worker has built it for.
    built: BTreeMap<usize, std::result::Result<BuiltFacts, Finding>>,
}

struct Verifier {
    client: Client,
    log: PathBuf,
}

/// Time that a kernel has left on a device: processor time of the worker where that is what runs
/// it, so that a kernel's outcome does not depend on what else the machine does; else time on the
/// wall.
#[derive(Clone, Copy, Debug)]
pub(super) struct Allowance {
    limit: Duration,
    wall: Duration,
    processor: Option<Duration>,
    /// On processors: a wait in which nothing is done.
    still: Option<Duration>,
}

impl Allowance {
    /// `limit` on a device of that type.
    pub(super) fn new(limit: Duration, device: DeviceType) -> Allowance {
        match device {
            DeviceType::Cpu => Allowance {
                limit,
                wall: limit * BACKSTOP,
                processor: Some(limit),
                still: Some(limit),
            },
            _ => Allowance { limit, wall: limit, processor: None, still: None },
        }
    }

    /// Time on the wall, and much of it: for what has shown that it ends, within `limit` and `cost`
    /// together. Where all of it is done by processors, a wait is as long as `limit` at most.
    pub(super) fn ample(limit: Duration, cost: Duration, on_processors: bool) -> Allowance {
        let limits = limit + cost;
        let still = on_processors.then_some(limit);
        Allowance { limit: limits, wall: limits * BACKSTOP, processor: None, still }
    }

    /// What [`Allowance::new`] gives, and `cost` more for timing.
    pub(super) fn timed(limit: Duration, cost: Duration, device: DeviceType) -> Allowance {
        let cores = std::thread::available_parallelism().map_or(1, |all| all.get() as u32);
        match Allowance::new(limit, device) {
            Allowance { processor: Some(_), .. } => Allowance {
                limit,
                wall: (limit + cost) * BACKSTOP,
                processor: Some(limit + cost * cores),
                still: Some(limit + cost),
            },
            other => Allowance { wall: other.wall + cost, ..other },
        }
    }

    pub(super) fn is_spent(&self) -> bool {
        self.wall.is_zero() || self.processor.is_some_and(|left| left.is_zero())
    }

    /// The limit in words.
    pub(super) fn words(&self) -> String {
        let of = if self.processor.is_some() { " of processor time" } else { "" };
        format!("the limit of {} ms{of}", self.limit.as_millis())
    }

    fn spend(&mut self, wall: Duration, processor: Duration) {
        self.wall = self.wall.saturating_sub(wall);
        self.processor = self.processor.map(|left| left.saturating_sub(processor));
    }

    fn spend_all(&mut self) {
        self.wall = Duration::ZERO;
    }
}

/// An answer, or the finding about the program that killed the worker.
type Asked = Result<std::result::Result<Answer, Finding>>;

impl WorkerSet {
    pub(super) fn new(
        launch: &Launch,
        devices: &[DeviceInfo],
        oclgrind: Option<&Oclgrind>,
        stop: Arc<AtomicBool>,
    ) -> Result<WorkerSet> {
        let client = Client::new(launch.clone())?;
        let mut verifier = None;
        if let Some(oclgrind) = oclgrind {
            let mut client = Client::new(launch.clone())?;
            let log = client.scratch().join("oclgrind.log");
            client.set_environment(oclgrind.environment(&log));
            verifier = Some(Verifier { client, log });
        }
        let devices = devices.iter().map(|device| device.name.clone()).collect();
        Ok(WorkerSet { client, devices, verifier, stop, built: BTreeMap::new() })
    }

    /// Begin with another program.
    pub(super) fn forget(&mut self) {
        self.built.clear();
    }

    /// Go on with a new worker.
    pub(super) fn retire(&mut self) {
        self.client.retire();
        self.built.clear();
    }

    /// Open a device, unless the living worker has; that is no cost of the kernel that happens to be its first.
    ///
    /// # Errors
    /// When it cannot be opened, which says nothing of any kernel.
    pub(super) fn open(&mut self, device: usize) -> Result<()> {
        let name = self.devices.get(device).cloned();
        let open = Request::Open { device, name: name.clone() };
        loop {
            let is_new = !self.client.is_alive();
            let mut allowance = Allowance::ample(OPEN_LIMIT, Duration::ZERO, false);
            let why = match self.ask(&open, &mut allowance)? {
                Ok(Answer::Opened) => return Ok(()),
                Ok(Answer::Gone(why)) => why,
                Ok(other) => return Err(unexpected(other)),
                Err(Finding { detail, .. }) => detail,
            };
            // What other programs have left in a worker that lives long may be in the way.
            self.retire();
            if is_new {
                return Err(Error::Unopened { device: name.unwrap_or_default(), why });
            }
        }
    }

    /// Build for `device`, unless the living worker has.
    pub(super) fn build(
        &mut self,
        device: usize,
        benchmark: &Benchmark,
        arguments: bool,
        allowance: &mut Allowance,
    ) -> Result<std::result::Result<BuiltFacts, Finding>> {
        if !self.client.is_alive() {
            self.built.clear();
        }
        if let Some(known) = self.built.get(&device) {
            return Ok(known.clone());
        }
        self.open(device)?;
        let request = Request::Build { device, text: benchmark.text.clone(), arguments };
        let built = match self.ask(&request, allowance)? {
            Ok(Answer::Built(built)) => built,
            Ok(other) => return Err(unexpected(other)),
            Err(finding) => Err(finding),
        };
        self.built.insert(device, built.clone());
        Ok(built)
    }

    /// Check what was built.
    pub(super) fn check(
        &mut self,
        device: usize,
        job: &Job,
        allowance: &mut Allowance,
    ) -> Result<Checked> {
        let request = Request::Check { device, job: job.clone() };
        let checked = match self.ask(&request, allowance)? {
            Ok(Answer::Checked(checked)) => checked,
            Ok(other) => return Err(unexpected(other)),
            Err(finding) => Checked::nowhere(finding),
        };
        if checked.spoilt {
            self.retire();
        }
        Ok(checked)
    }

    /// Ask anything of the devices' worker.
    pub(super) fn ask(&mut self, request: &Request, allowance: &mut Allowance) -> Asked {
        ask(&mut self.client, request, allowance, &self.stop)
    }

    /// Execute once under Oclgrind: what it found, where it found something.
    pub(super) fn verify(
        &mut self,
        benchmark: &Benchmark,
        job: &Job,
        allowance: &mut Allowance,
    ) -> Result<Option<Finding>> {
        let Some(Verifier { client, log }) = &mut self.verifier else { return Ok(None) };
        let text = benchmark.text.clone();
        let open = Request::Open { device: 0, name: None };
        let request = Request::Build { device: 0, text, arguments: false };
        if !matches!(ask(client, &open, allowance, &self.stop)?, Ok(Answer::Opened)) {
            return Ok(None);
        }
        let built = ask(client, &request, allowance, &self.stop)?;
        if !matches!(built, Ok(Answer::Built(Ok(_)))) {
            return Ok(None);
        }
        let request = Request::Verify { device: 0, job: job.clone(), log: log.clone() };
        let bad = |outcome| {
            matches!(outcome, Outcome::Race | Outcome::OutOfBounds | Outcome::NonDeterministic)
        };
        Ok(match ask(client, &request, allowance, &self.stop)? {
            Ok(Answer::Checked(Checked { finding, .. })) if bad(finding.outcome) => Some(finding),
            // What it cannot run, or not in time, it has nothing to say about.
            _ => None,
        })
    }
}

fn ask(
    client: &mut Client,
    request: &Request,
    allowance: &mut Allowance,
    stop: &AtomicBool,
) -> Asked {
    let started = Instant::now();
    let before = client.processor_time();
    let Allowance { wall, processor, still, .. } = *allowance;
    let answer = client.ask(request, &Bounds { wall, processor, still, stop: Some(stop) });
    allowance.spend(started.elapsed(), client.processor_time().saturating_sub(before));
    match answer {
        Ok(answer) => Ok(Ok(answer)),
        Err(Death::Stopped) => Err(Error::Stopped),
        Err(death) if death.is_ours() => Err(Error::Worker(death.to_string())),
        Err(death @ (Death::Timeout(_) | Death::Processor)) => {
            allowance.spend_all();
            let waited = still.map(|limit| Death::Timeout(to_milliseconds(limit)));
            let detail = match waited == Some(death) {
                true => format!("waits and does nothing within {}", allowance.words()),
                false => format!("over {}", allowance.words()),
            };
            Ok(Err(Finding::new(Outcome::Timeout, detail)))
        }
        Err(death) => Ok(Err(died(&death))),
    }
}

fn to_milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

fn died(death: &Death) -> Finding {
    let outcome = match death {
        Death::Timeout(_) | Death::Processor => Outcome::Timeout,
        Death::Memory | Death::Output | Death::Processes => Outcome::OutOfResources,
        Death::Signal(..)
        | Death::Exit(..)
        | Death::Stopped
        | Death::Start(_)
        | Death::Machine(_) => Outcome::Crash,
    };
    Finding::new(outcome, death.to_string())
}

/// What an answer to another question means: that worker and client are not of one build.
pub(super) fn unexpected(answer: Answer) -> Error {
    Error::Worker(match answer {
        Answer::Gone(why) => why,
        _ => "it answers another question".to_owned(),
    })
}

/// Whether the kernels compute addresses from what their buffers hold.
pub(super) fn guesses(steps: &[Step]) -> bool {
    steps.iter().flat_map(|step| &step.interface.arguments).any(|argument| argument.indexes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        kernel::{Order, steps},
        payload::Values,
    };

    /// On PoCL's device.
    #[test]
    fn a_kernel_that_leaves_its_buffers_ends_its_worker_and_no_other_does() {
        let launch = Launch::find().expect("the worker is built");
        let mut client = Client::new(launch.clone()).expect("a place");
        let devices = client.devices().expect("devices can be listed");
        let is_pocl = |device: &DeviceInfo| device.platform == "Portable Computing Language";
        let device = devices.iter().position(is_pocl).expect("scripts/setup.sh installs PoCL");
        let mut workers = WorkerSet::new(&launch, &devices, None, Arc::default()).expect("workers");
        let mut lives = |text: &str, wanted: Outcome| {
            let benchmark = Benchmark::of(text);
            let mut allowance = Allowance::new(Duration::from_secs(20), DeviceType::Cpu);
            workers.forget();
            let built = workers.build(device, &benchmark, true, &mut allowance).expect("a worker");
            let kernels = built.expect("it compiles").kernels;
            let interfaces: Vec<_> = kernels.into_iter().map(|one| one.interface).collect();
            let job = Job {
                path: benchmark.path.clone(),
                steps: steps(&interfaces, &Order::default()).expect("a kernel"),
                size: 128,
                group: None,
                variant: 0,
                values: Values::default(),
                seed: 0,
            };
            let checked = workers.check(device, &job, &mut allowance).expect("a worker");
            assert_eq!(checked.finding.outcome, wanted, "{}", checked.finding.detail);
            workers.client.is_alive()
        };
        let place = "get_global_id(0)";
        let kernel = |body: &str| format!("kernel void A(global float* a) {{ {body} }}");
        assert!(lives(&kernel(&format!("a[{place}] += 1.0f;")), Outcome::Pass));
        assert!(lives(&kernel(&format!("a[{place}] = 1.0f;")), Outcome::InputInsensitive));
        let outside = kernel(&format!("a[{place} + get_global_size(0)] = a[{place}];"));
        assert!(!lives(&outside, Outcome::OutOfBounds));
        assert!(lives(&kernel(&format!("a[{place}] += 2.0f;")), Outcome::Pass));
    }

    /// On a wall clock a limit may be met late, but not by what does nothing.
    #[test]
    fn what_waits_for_ever_has_the_limit_and_no_multiple_of_it() {
        let limit = Duration::from_secs(20);
        let still = |allowance: Allowance| allowance.still.unwrap_or(allowance.wall);
        for device in [DeviceType::Cpu, DeviceType::Gpu] {
            assert_eq!(still(Allowance::new(limit, device)), limit, "{device:?}");
        }
        assert_eq!(still(Allowance::ample(limit, Duration::from_secs(100), true)), limit);
    }

    #[test]
    fn a_spent_allowance_is_spent_for_all_sizes() {
        let mut allowance = Allowance::new(Duration::from_secs(20), DeviceType::Cpu);
        allowance.spend(Duration::from_secs(80), Duration::ZERO);
        assert!(allowance.is_spent());
        let mut allowance = Allowance::new(Duration::from_secs(20), DeviceType::Cpu);
        allowance.spend(Duration::from_secs(79), Duration::from_secs(19));
        assert!(!allowance.is_spent());
        allowance.spend_all();
        assert!(allowance.is_spent());
    }
}

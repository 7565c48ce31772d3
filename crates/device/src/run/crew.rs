//! A thread's workers, and questions to them whose deaths are findings.

use crate::{
    DeviceInfo, Error, Finding, Outcome, Result,
    check::Oclgrind,
    kernel::{Benchmark, Step},
    payload::Job,
    worker::{Answer, BuiltFacts, Checked, Client, Launch, Request},
};
use sandbox::Death;
use std::{
    collections::BTreeMap,
    path::PathBuf,
    time::{Duration, Instant},
};

/// A worker for the devices, and one under Oclgrind where that is wanted.
pub(super) struct Crew {
    client: Client,
    /// Names of all devices.
    devices: Vec<String>,
    verifier: Option<Verifier>,
    /// What became of the current program on the devices the living worker has built it for.
    built: BTreeMap<usize, std::result::Result<BuiltFacts, Finding>>,
}

struct Verifier {
    client: Client,
    log: PathBuf,
}

/// Time that a kernel has left on a device.
#[derive(Clone, Copy, Debug)]
pub(super) struct Allowance {
    pub(super) limit: Duration,
    pub(super) left: Duration,
}

impl Allowance {
    pub(super) fn new(limit: Duration) -> Allowance {
        Allowance { limit, left: limit }
    }

    pub(super) fn is_spent(&self) -> bool {
        self.left.is_zero()
    }
}

/// An answer, or the finding about the program that killed the worker.
type Asked = Result<std::result::Result<Answer, Finding>>;

impl Crew {
    pub(super) fn new(
        launch: &Launch,
        devices: &[DeviceInfo],
        oclgrind: Option<&Oclgrind>,
    ) -> Result<Crew> {
        let client = Client::new(launch.clone())?;
        let mut verifier = None;
        if let Some(oclgrind) = oclgrind {
            let mut client = Client::new(launch.clone())?;
            let log = client.scratch().join("oclgrind.log");
            client.set_environment(oclgrind.environment(&log));
            verifier = Some(Verifier { client, log });
        }
        let devices = devices.iter().map(|device| device.name.clone()).collect();
        Ok(Crew { client, devices, verifier, built: BTreeMap::new() })
    }

    /// Begin with another program.
    pub(super) fn forget(&mut self) {
        self.built.clear();
    }

    /// Go on with a new worker.
    pub(super) fn retire(&mut self) {
        self.client.retire();
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
        let name = self.devices.get(device).cloned();
        let request = Request::Build { device, name, text: benchmark.text.clone(), arguments };
        let built = match ask(&mut self.client, &request, allowance)? {
            Ok(Answer::Built(built)) => built,
            Ok(other) => Err(unexpected(other)),
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
        let checked = match ask(&mut self.client, &request, allowance)? {
            Ok(Answer::Checked(checked)) => checked,
            Ok(other) => Checked::nowhere(unexpected(other)),
            Err(finding) => Checked::nowhere(finding),
        };
        if checked.spoilt {
            self.client.retire();
        }
        Ok(checked)
    }

    /// Ask anything of the devices' worker.
    pub(super) fn ask(&mut self, request: &Request, allowance: &mut Allowance) -> Asked {
        ask(&mut self.client, request, allowance)
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
        let request = Request::Build { device: 0, name: None, text, arguments: false };
        let built = ask(client, &request, allowance)?;
        if !matches!(built, Ok(Answer::Built(Ok(_)))) {
            return Ok(None);
        }
        let request = Request::Verify { device: 0, job: job.clone(), log: log.clone() };
        let bad = |outcome| {
            matches!(outcome, Outcome::Race | Outcome::OutOfBounds | Outcome::NonDeterministic)
        };
        Ok(match ask(client, &request, allowance)? {
            Ok(Answer::Checked(Checked { finding, .. })) if bad(finding.outcome) => Some(finding),
            // What it cannot run, or not in time, it has nothing to say about.
            _ => None,
        })
    }
}

fn ask(client: &mut Client, request: &Request, allowance: &mut Allowance) -> Asked {
    let started = Instant::now();
    let answer = client.ask(request, allowance.left);
    allowance.left = allowance.left.saturating_sub(started.elapsed());
    match answer {
        Ok(answer) => Ok(Ok(answer)),
        Err(Death::Start(reason)) => Err(Error::Worker(reason)),
        Err(Death::Timeout(_)) => {
            allowance.left = Duration::ZERO;
            let detail = format!("over the limit of {} ms", allowance.limit.as_millis());
            Ok(Err(Finding::new(Outcome::Timeout, detail)))
        }
        Err(death) => Ok(Err(died(&death))),
    }
}

fn died(death: &Death) -> Finding {
    let outcome = match death {
        Death::Timeout(_) | Death::Processor => Outcome::Timeout,
        Death::Memory | Death::Output => Outcome::OutOfResources,
        Death::Signal(..) | Death::Exit(..) | Death::Start(_) => Outcome::Crash,
    };
    Finding::new(outcome, death.to_string())
}

/// What an answer to another question means: mostly that the device cannot be opened any more.
pub(super) fn unexpected(answer: Answer) -> Finding {
    let detail = match answer {
        Answer::Gone(why) => format!("the device is gone: {why}"),
        _ => "the worker answers another question".to_owned(),
    };
    Finding::new(Outcome::OutOfResources, detail)
}

/// Whether the kernels compute addresses from what their buffers hold.
pub(super) fn guesses(steps: &[Step]) -> bool {
    steps.iter().flat_map(|step| &step.interface.arguments).any(|argument| argument.indexes)
}

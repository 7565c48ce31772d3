use super::protocol::{Answer, BuiltFacts, CellKey, Checked, Request};
use crate::{
    Finding, Outcome,
    check::{Contested, Entrant, check, contest, joined, read_log},
    measure::{Cell, Effort, measure},
    opencl::{Built, Device, Execution, Fault, list},
    payload::{Job, Limits, Plan, Side},
};
use rows::KernelEditVerdict as Verdict;
use sandbox::Profile;
use std::{
    collections::{BTreeMap, btree_map::Entry},
    fs::File,
    io,
    os::fd::{AsFd, AsRawFd},
    path::{Path, PathBuf},
};

/// Programs of contests that stay built for a device: a slow one and many candidates.
const MOST_KEPT: usize = 32;

/// Environment variable with the worker's scratch folder.
pub(super) const SCRATCH_VARIABLE: &str = "STAMPMILL_DEVICE_SCRATCH";

/// The worker's side: enter the sandbox, then answer the client on standard input and output until
/// it hangs up.
///
/// Kernels may `printf`; what they print goes to standard error, never between our messages.
///
/// # Errors
/// When the sandbox cannot be entered or the pipe breaks.
pub fn serve_worker() -> io::Result<()> {
    let scratch = std::env::var_os(SCRATCH_VARIABLE)
        .ok_or_else(|| io::Error::other(format!("{SCRATCH_VARIABLE} names no scratch folder")))?;
    let input = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    let output = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    // SAFETY: both are open descriptors of this process, and nothing has been written to standard
    // output yet.
    let replaced = unsafe { libc::dup2(io::stderr().as_raw_fd(), io::stdout().as_raw_fd()) };
    if replaced < 0 {
        return Err(io::Error::last_os_error());
    }
    std::fs::create_dir_all(&scratch)?;
    let profile = profile();
    let mut session = Session::default();
    sandbox::serve_over(&profile, input, output, |message| {
        let answer = match postcard::from_bytes(message) {
            Ok(request) => session.answer(request),
            Err(error) => Answer::Gone(format!("not a request of this version: {error}")),
        };
        postcard::to_stdvec(&answer).expect("an answer is plain data and always encodes")
    })
}

/// What the worker may do; its client enforces the same limits from outside.
pub(super) fn profile() -> Profile {
    let mut profile = Profile::device();
    profile.devices = nodes();
    profile.readable = drivers();
    profile
}

/// The nodes of this machine's devices.
fn nodes() -> Vec<PathBuf> {
    let names = |entry: std::fs::DirEntry| {
        let name = entry.file_name().to_string_lossy().into_owned();
        (name.starts_with("nvidia") || name == "dri" || name == "kfd" || name == "mali0")
            .then(|| entry.path())
    };
    let mut found: Vec<PathBuf> =
        std::fs::read_dir("/dev").into_iter().flatten().flatten().filter_map(names).collect();
    found.sort();
    found
}

/// Where drivers lie that the user's environment names: folders of `.icd` files, the libraries that
/// those name, and what is beside them.
fn drivers() -> Vec<PathBuf> {
    let folders = |name: &str| std::env::var_os(name).into_iter().map(PathBuf::from);
    let mut found: Vec<PathBuf> = folders("OCL_ICD_VENDORS").collect();
    let files = found.iter().filter_map(|folder| std::fs::read_dir(folder).ok());
    let icds: Vec<PathBuf> = files.flatten().flatten().map(|entry| entry.path()).collect();
    for icd in icds.iter().filter(|path| path.extension().is_some_and(|e| e == "icd")) {
        let named = std::fs::read_to_string(icd).unwrap_or_default();
        let library = PathBuf::from(named.trim());
        // Compilers and run-time libraries of a driver lie one level up.
        let beside = library.parent().filter(|_| library.is_absolute()).and_then(Path::parent);
        found.extend(beside.map(Path::to_owned));
    }
    for name in ["LD_LIBRARY_PATH", "OPENCL_DYLIB_PATH", "OCL_ICD_FILENAMES"] {
        let value = std::env::var_os(name).unwrap_or_default();
        found.extend(std::env::split_paths(&value).filter(|path| path.is_absolute()));
    }
    found.retain(|path| path.exists());
    found
}

#[derive(Default)]
struct Session {
    open: BTreeMap<usize, Open>,
}

struct Open {
    // Released before the device they were built for.
    built: Option<Built>,
    /// What was built for contests: slow programs and candidates, what was asked for last at the end.
    contests: Vec<Built>,
    device: Device,
}

impl Session {
    fn answer(&mut self, request: Request) -> Answer {
        match request {
            Request::List => Answer::Devices(list()),
            Request::Open { device, name } => match self.open(device, name.as_deref()) {
                Err(why) => Answer::Gone(why),
                Ok(()) => Answer::Opened,
            },
            Request::Build { device, text, arguments } => match self.open.get_mut(&device) {
                None => Answer::Gone("it was not opened".to_owned()),
                Some(open) => {
                    open.built = None;
                    Answer::Built(open.build(&text, arguments))
                }
            },
            Request::Check { device, job } => Answer::Checked(match self.open.get(&device) {
                None => Checked::nowhere(not_built()),
                Some(open) => open.execute(&job, check),
            }),
            Request::Verify { device, job, log } => Answer::Checked(match self.open.get(&device) {
                None => Checked::nowhere(not_built()),
                Some(open) => open.verify(&job, &log),
            }),
            Request::Contest { device, slow, fast, payloads, alter, effort } => {
                Answer::Contested(match self.open.get_mut(&device) {
                    None => Contested::found(not_built()),
                    Some(open) => open.contest(&slow, &fast, (payloads, alter), &effort),
                })
            }
            Request::Measure { cells, effort } => self.measure(&cells, &effort),
        }
    }

    fn open(&mut self, index: usize, name: Option<&str>) -> Result<(), String> {
        if let Entry::Vacant(place) = self.open.entry(index) {
            place.insert(Open {
                built: None,
                contests: Vec::new(),
                device: Device::open(index, name)?,
            });
        }
        Ok(())
    }

    fn measure(&self, keys: &[CellKey], effort: &Effort) -> Answer {
        let cell = |key: &CellKey| {
            let open = self.open.get(&key.device).ok_or_else(not_built)?;
            let built = open.built.as_ref().ok_or_else(not_built)?;
            let plan = open.plan(built, &key.job)?;
            Ok(Cell { device: &open.device, built, job: key.job.clone(), plan })
        };
        let planned: Vec<Result<Cell<'_>, Finding>> = keys.iter().map(cell).collect();
        let findings: Vec<Option<Finding>> =
            planned.iter().map(|cell| cell.as_ref().err().cloned()).collect();
        let cells: Vec<Cell<'_>> = planned.into_iter().flatten().collect();
        let mut measured = measure(&cells, effort).into_iter();
        let results = findings.into_iter().map(|finding| match finding {
            Some(finding) => Err(finding),
            None => measured.next().unwrap_or_else(|| Err(not_built())),
        });
        Answer::Measured(results.collect())
    }
}

fn no_kernel(name: &str) -> String {
    format!(
        "the device's compiler gives no kernel `{name}`: one that is overloaded has another name"
    )
}

fn not_built() -> Finding {
    Finding::new(Outcome::BuildFailure, "not built for this device")
}

impl Open {
    fn build(&mut self, text: &str, arguments: bool) -> Result<BuiltFacts, Finding> {
        let built = Built::new(&self.device, text, arguments)?;
        let facts =
            BuiltFacts { kernels: built.facts(&self.device), options: built.options.to_owned() };
        self.built = Some(built);
        Ok(facts)
    }

    fn plan(&self, built: &Built, job: &Job) -> Result<Plan, Finding> {
        let limits = |step: &crate::kernel::Step| {
            let name = &step.interface.name;
            let kernel = built.kernel(name);
            let kernel = kernel.ok_or_else(|| Finding::new(Outcome::NoKernel, no_kernel(name)))?;
            Built::limits(&self.device, kernel)
        };
        let limits: Vec<Limits> = job.steps.iter().map(limits).collect::<Result<_, Finding>>()?;
        if limits.is_empty() {
            return Err(Finding::new(Outcome::NoKernel, ""));
        }
        Plan::new(job, &built.text, &limits)
    }

    fn execute(
        &self,
        job: &Job,
        work: impl FnOnce(&Device, &Built, &Job, &Plan) -> Result<Finding, Fault>,
    ) -> Checked {
        let Some(built) = &self.built else { return Checked::nowhere(not_built()) };
        let plan = match self.plan(built, job) {
            Ok(plan) => plan,
            Err(finding) => return Checked::nowhere(finding),
        };
        let (finding, spoilt) = match work(&self.device, built, job, &plan) {
            Ok(finding) => (finding, self.device.has_strayed()),
            Err(fault) => (fault.finding(), fault.spoils() || self.device.has_strayed()),
        };
        let range = plan.ranges.first().cloned();
        Checked { finding, range, transferred_bytes: plan.transferred_bytes(), spoilt }
    }

    fn contest(
        &mut self,
        slow: &(String, Job),
        fast: &(String, Job),
        payloads: (u32, bool),
        effort: &Effort,
    ) -> Contested {
        let mut last = self.contests.iter().rev().map(|built| built.text.as_str());
        let is_same = last.next() == Some(fast.0.as_str())
            && (slow.0 == fast.0 || last.next() == Some(slow.0.as_str()));
        // Later versions of the language have variables that outlive an execution: such programs are for one contest, at all
        // of its sizes.
        let of_both = |built: &Built| built.text == slow.0 || built.text == fast.0;
        self.contests.retain(|built| built.options.is_empty() || is_same && of_both(built));
        if let Err(found) = self.keep(&slow.0) {
            return Contested::of(Verdict::SourceFails, found.detail);
        }
        if let Err(found) = self.keep(&fast.0) {
            return Contested::found(found);
        }
        match (self.kept(&slow.0), self.kept(&fast.0)) {
            (Some(one), Some(other)) => {
                self.judge((one, &slow.1), (other, &fast.1), payloads, effort)
            }
            _ => Contested::found(not_built()),
        }
    }

    /// Have a program built for contests.
    fn keep(&mut self, text: &str) -> Result<(), Finding> {
        let known = self.contests.iter().position(|built| built.text == text);
        let built = match known {
            Some(place) => self.contests.remove(place),
            None => Built::new(&self.device, text, false)?,
        };
        if self.contests.len() >= MOST_KEPT {
            self.contests.remove(0);
        }
        self.contests.push(built);
        Ok(())
    }

    /// A program that was built for contests.
    fn kept(&self, text: &str) -> Option<&Built> {
        self.contests.iter().rfind(|built| built.text == text)
    }

    fn judge(
        &self,
        (one, slow): (&Built, &Job),
        (other, fast): (&Built, &Job),
        payloads: (u32, bool),
        effort: &Effort,
    ) -> Contested {
        let of_slow = |found: Finding| Contested::of(Verdict::SourceFails, found.detail);
        let plans = self.plan(one, slow).map_err(of_slow).and_then(|plan| {
            let theirs = self.plan(other, fast).map_err(Contested::found)?;
            let bytes = plan.transferred_bytes();
            let both = joined(&plan, &theirs)
                .map_err(|why| Contested::of(Verdict::InterfaceDiffers, why))?;
            Ok((both, bytes))
        });
        let ((plan, theirs), bytes) = match plans {
            Ok(plans) => plans,
            Err(failed) => return failed,
        };
        let launches = theirs.launches(&fast.steps);
        let slow = Entrant { built: one, job: slow, plan: &plan };
        let fast = Entrant { built: other, job: fast, plan: &theirs };
        let contested = contest(&self.device, slow, fast, payloads.0, payloads.1, effort);
        let contested = contested.unwrap_or_else(|fault| Contested {
            spoilt: fault.spoils(),
            ..Contested::found(fault.finding())
        });
        let spoilt = contested.spoilt || self.device.has_strayed();
        Contested { bytes, launches, spoilt, ..contested }
    }

    /// One execution with buffers of their exact size, so that Oclgrind sees where they end.
    fn verify(&self, job: &Job, log: &Path) -> Checked {
        let begin = std::fs::metadata(log).map_or(0, |file| file.len());
        let mut checked = self.execute(job, |device, built, job, plan| {
            let names = job.steps.iter().map(|step| step.interface.name.as_str());
            let mut execution = Execution::new(device, built, names, plan, false)?;
            execution.run(&plan.payload(job, Side::A))?;
            Ok(Finding::new(Outcome::Pass, ""))
        });
        let text = std::fs::read(log).unwrap_or_default();
        let new = text.get(usize::try_from(begin).unwrap_or(0)..).unwrap_or_default();
        if let Some(finding) = read_log(&String::from_utf8_lossy(new)) {
            checked.finding = finding;
        }
        checked
    }
}

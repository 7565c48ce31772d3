use super::{
    protocol::{Answer, Request},
    serve::{SCRATCH_VARIABLE, profile},
};
use crate::{DeviceInfo, Error, Result};
use host::Helper;
use sandbox::{Bounds, Death, Worker};
use std::{
    ffi::OsString,
    path::PathBuf,
    process::Command,
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

const LIST_LIMIT: Duration = Duration::from_secs(60);

/// How workers are started.
#[derive(Clone, Debug)]
pub(crate) struct Launch {
    program: PathBuf,
    arguments: Vec<OsString>,
}

impl Launch {
    /// The worker's executable beside ours, else our own with the arguments `worker device`.
    pub(crate) fn find() -> Result<Launch> {
        let (program, arguments) = match Helper::DEVICE.find() {
            Ok(program) => (program, Vec::new()),
            Err(missing) => {
                let own =
                    std::env::current_exe().map_err(|error| Error::Worker(error.to_string()))?;
                if own.file_stem().is_none_or(|stem| stem != "stampmill") {
                    return Err(Error::Worker(missing.to_string()));
                }
                (own, vec!["worker".into(), "device".into()])
            }
        };
        Ok(Launch { program, arguments })
    }
}

/// One worker, replaced whenever it has died.
#[derive(Debug)]
pub(crate) struct Client {
    launch: Launch,
    environment: Vec<(&'static str, String)>,
    scratch: PathBuf,
    worker: Option<Worker>,
}

impl Client {
    pub(crate) fn new(launch: Launch) -> Result<Client> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("/tmp/stampmill-device-{}-{number}", std::process::id());
        Ok(Client { launch, environment: Vec::new(), scratch: name.into(), worker: None })
    }

    /// Have workers started from now on see these variables too.
    pub(crate) fn set_environment(&mut self, variables: Vec<(&'static str, String)>) {
        self.environment = variables;
    }

    /// The folder that the worker makes and writes to, in the private `/tmp` of its sandbox.
    pub(crate) fn scratch(&self) -> &std::path::Path {
        &self.scratch
    }

    /// Ask; starts a worker where there is none.
    ///
    /// # Errors
    /// How the worker died over it.
    pub(crate) fn ask(
        &mut self,
        request: &Request,
        bounds: &Bounds<'_>,
    ) -> std::result::Result<Answer, Death> {
        let mut worker = match self.worker.take() {
            Some(worker) => worker,
            None => self.spawn()?,
        };
        let message =
            postcard::to_stdvec(request).expect("a request is plain data and always encodes");
        let answer = worker.call_within(&message, bounds)?;
        let answer = postcard::from_bytes(&answer)
            .map_err(|_| Death::Start("the worker is of another version than its client".into()))?;
        self.worker = Some(worker);
        Ok(answer)
    }

    /// Processor time that the living worker has used.
    pub(crate) fn processor_time(&self) -> Duration {
        self.worker.as_ref().map_or(Duration::ZERO, Worker::processor_time)
    }

    /// Have the next question asked to a new worker.
    pub(crate) fn retire(&mut self) {
        self.worker = None;
    }

    /// Whether the worker has kept what it was told.
    pub(crate) fn is_alive(&self) -> bool {
        self.worker.is_some()
    }

    /// The devices of this machine.
    ///
    /// # Errors
    /// That there is no OpenCL, or no working worker.
    pub(crate) fn devices(&mut self) -> Result<Vec<DeviceInfo>> {
        let bounds = Bounds { wall: LIST_LIMIT, processor: None, still: None, stop: None };
        match self.ask(&Request::List, &bounds) {
            Ok(Answer::Devices(Ok(devices))) => Ok(devices),
            Ok(Answer::Devices(Err(why))) => Err(Error::NoOpenCl(why)),
            Ok(Answer::Gone(why)) => Err(Error::Worker(why)),
            Ok(_) => Err(Error::Worker("it answers another question".into())),
            Err(death) => Err(Error::Worker(death.to_string())),
        }
    }

    fn spawn(&self) -> std::result::Result<Worker, Death> {
        let scratch = &self.scratch;
        let mut command = Command::new(&self.launch.program);
        command
            .args(&self.launch.arguments)
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .env(SCRATCH_VARIABLE, scratch);
        // Where drivers keep their caches and temporary files.
        for variable in ["TMPDIR", "HOME", "XDG_CACHE_HOME", "POCL_CACHE_DIR", "CUDA_CACHE_PATH"] {
            command.env(variable, scratch);
        }
        Worker::spawn(command, &profile())
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.worker = None;
        // On this host there is such a folder only where the sandbox has no `/tmp` of its own.
        let _ = std::fs::remove_dir_all(&self.scratch);
    }
}

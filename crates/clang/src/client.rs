use crate::protocol::{Answer, Language, Options, Request};
use host::Helper;
use sandbox::{Bounds, Death, Pool, Profile};
use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

/// Environment variable that names the worker's executable.
pub const WORKER_VARIABLE: &str = "STAMPMILL_CLANG_WORKER";

/// Wall-clock limit of one request unless [`Clang::with_limit`] says otherwise: far above the profile's
/// limit on processor time, which does not hang on what else the machine does.
const LIMIT: Duration = Duration::from_secs(120);

/// Why there is no compiler to ask.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The worker's executable is nowhere it is looked for.
    #[error(transparent)]
    NotFound(#[from] host::Missing),
    /// The variable names what is no file.
    #[error("no clang worker at {}, which {WORKER_VARIABLE} names", path.display())]
    NotThere {
        /// As it is named.
        path: PathBuf,
    },
    /// The worker is there but does not start, most often because libclang-cpp 19 is missing.
    #[error(
        "the clang worker {} does not start: {death}{}", worker.display(),
        // What the sandbox lacks has nothing to do with libraries.
        if matches!(death, Death::Start(_)) { "" } else { "; are libclang-cpp19 and libllvm19 installed?" }
    )]
    CannotStart {
        /// The executable.
        worker: PathBuf,
        /// How it ended.
        death: Death,
    },
}

impl Error {
    /// Whether the machine failed, or what is ours: nothing is said of any program then.
    #[must_use]
    pub fn is_fault(&self) -> bool {
        matches!(self, Error::CannotStart { death, .. } if death.is_ours())
    }
}

/// What programs may include besides the virtual headers that come with them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Includes {
    /// clang's own headers.
    #[default]
    Own,
    /// Those, and in C and C++ programs the headers of the host's libraries: the worker may then
    /// read the folders that hold them, and nothing else.
    Host,
}

/// clang, in workers of its own.
///
/// Shared by any number of threads; a worker that dies over a program is replaced for the next.
#[derive(Debug)]
pub struct Clang {
    pool: Pool,
    worker: PathBuf,
    limit: Duration,
    stop: Option<Arc<AtomicBool>>,
}

impl Clang {
    /// Start with at most `workers` processes; one is started now, the others when needed.
    ///
    /// # Errors
    /// When the worker's executable cannot be found or does not start.
    pub fn start(workers: usize) -> Result<Clang, Error> {
        Clang::start_at(&find_worker()?, workers, Includes::Own)
    }

    /// The same with the executable `worker`, and with a choice of what programs may include.
    ///
    /// # Errors
    /// When it does not start.
    pub fn start_at(worker: &Path, workers: usize, includes: Includes) -> Result<Clang, Error> {
        let executable = worker.to_owned();
        let pool = Pool::new(workers, Profile::clang(), move || {
            let mut command = Command::new(&executable);
            if includes == Includes::Host {
                command.arg("--host-headers");
            }
            command
        });
        match pool.held() {
            Ok(_) => Ok(Clang { pool, worker: worker.to_owned(), limit: LIMIT, stop: None }),
            Err(death) => Err(Error::CannotStart { worker: worker.to_owned(), death }),
        }
    }

    /// With another wall-clock limit per request than 120 s.
    #[must_use]
    pub fn with_limit(mut self, limit: Duration) -> Clang {
        self.limit = limit;
        self
    }

    /// The wall-clock limit of one request.
    #[must_use]
    pub fn limit(&self) -> Duration {
        self.limit
    }

    /// Ended in the middle of a request, with [`Death::Stopped`], while `stop` is raised.
    #[must_use]
    pub fn with_stop(mut self, stop: Arc<AtomicBool>) -> Clang {
        self.stop = Some(stop);
        self
    }

    /// The worker's executable.
    #[must_use]
    pub fn worker(&self) -> &Path {
        &self.worker
    }

    /// The version of the clang in it, as it prints it; `None` where it does not answer.
    #[must_use]
    pub fn version(&self) -> Option<String> {
        version_of(&self.worker)
    }

    /// The pool of workers, for what holds in them.
    #[must_use]
    pub fn pool(&self) -> &Pool {
        &self.pool
    }

    /// Have a worker answer `request`; waits until one is free.
    ///
    /// # Errors
    /// How the worker died over this program.
    pub fn ask(&self, request: &Request) -> Result<Answer, Death> {
        let message =
            postcard::to_stdvec(request).expect("a request is plain data and always encodes");
        let bounds =
            Bounds { wall: self.limit, processor: None, still: None, stop: self.stop.as_deref() };
        let answer = self.pool.call_within(&message, &bounds)?;
        postcard::from_bytes(&answer).map_err(|_| {
            Death::Start(format!("{} is of another version than its client", self.worker.display()))
        })
    }

    /// Expand macros, conditionals and includes; the answer's `text`.
    ///
    /// # Errors
    /// How the worker died over this program.
    pub fn preprocess(&self, source: &str, options: &Options) -> Result<Answer, Death> {
        self.ask(&Request::Preprocess { source: source.into(), options: options.clone() })
    }

    /// Lex without preprocessing; the answer's `tokens`.
    ///
    /// # Errors
    /// How the worker died over this program.
    pub fn tokens(&self, source: &str, options: &Options) -> Result<Answer, Death> {
        self.ask(&Request::Tokens { source: source.into(), options: options.clone() })
    }

    /// Parse; the answer's `facts`.
    ///
    /// # Errors
    /// How the worker died over this program.
    pub fn parse(&self, source: &str, options: &Options) -> Result<Answer, Death> {
        self.ask(&Request::Parse { source: source.into(), options: options.clone(), tree: false })
    }

    /// Compile to bitcode; the answer's `code`.
    ///
    /// # Errors
    /// How the worker died over this program.
    pub fn compile(&self, source: &str, options: &Options) -> Result<Answer, Death> {
        self.ask(&Request::Compile {
            source: source.into(),
            options: options.clone(),
            facts: false,
            tree: false,
            bitcode: true,
        })
    }

    /// The canonical IR of what `kernel` reaches; the answer's `hash`, and its `text` too.
    ///
    /// # Errors
    /// How the worker died over this program.
    pub fn canonical_ir(
        &self,
        source: &str,
        options: &Options,
        kernel: &str,
    ) -> Result<Answer, Death> {
        self.ask(&Request::CanonicalIr {
            source: source.into(),
            options: options.clone(),
            kernel: kernel.into(),
            text: true,
            facts: false,
        })
    }

    /// Lay out in the project's one code style; the answer's `text`. Idempotent.
    ///
    /// # Errors
    /// How the worker died over this program.
    pub fn format(&self, source: &str, language: Language) -> Result<Answer, Death> {
        self.ask(&Request::Format { source: source.into(), language })
    }
}

/// The version of the clang in the worker's executable, as it prints it; `None` where it does not answer.
#[must_use]
pub fn version_of(worker: &Path) -> Option<String> {
    let output = Command::new(worker).arg("--version").output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    text.lines().next().map(|line| line.trim().to_owned())
}

/// The worker's executable: the one named by [`WORKER_VARIABLE`], else where helper binaries are.
///
/// # Errors
/// When it is at none of these places.
pub fn find_worker() -> Result<PathBuf, Error> {
    if let Some(path) = env::var_os(WORKER_VARIABLE) {
        let path = PathBuf::from(path);
        return if path.is_file() { Ok(path) } else { Err(Error::NotThere { path }) };
    }
    Ok(Helper::CLANG.find()?)
}

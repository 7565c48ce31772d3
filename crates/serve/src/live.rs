//! The report of a folder that shows what is there by now: `stampmill report` at an address.

use crate::{
    Error, Limits, Taken,
    gate::{Gate, work},
    page::{self, HTML, text},
    refusal::{Refusal, said},
    wait_for,
};
use axum::{
    Router,
    extract::State,
    http::StatusCode,
    response::{IntoResponse, Response},
    routing::get,
};
use report::Options;
use serde::Serialize;
use serde_json::{Value, json};
use std::{
    fs,
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, SystemTime},
};
use tokio::{
    sync::{Semaphore, oneshot},
    time::Instant,
};

/// Folders in each other that are looked into, as for a report.
const DEPTH: u32 = 3;
const MANIFEST: &str = "_dataset.json";
/// In the folder `NAME.partial` of a data set that is being made: what it is going to be.
const MARKER: &str = ".stampmill-partial";
const ADDRESSES: &str = "/, /page, /state";

/// How a report is served.
#[derive(Clone, Debug)]
pub struct LiveSettings {
    /// The folder.
    pub folder: PathBuf,
    /// Host and port; port 0 takes any free one.
    pub listen: String,
    /// What the page may hold.
    pub options: Options,
    /// What a client may take.
    pub limits: Limits,
    /// How long requests that are being answered when the server is stopped may still take.
    pub grace: Duration,
}

/// A report that listens at an address.
#[derive(Debug)]
pub struct LiveServer {
    settings: LiveSettings,
    taken: Taken,
}

struct Service {
    gate: Arc<Gate>,
    settings: LiveSettings,
    /// Whether only this machine can ask.
    is_local: bool,
    /// One page is made at a time.
    maker: Arc<Semaphore>,
    /// The newest page, and which state it is of.
    page: Mutex<Option<(String, Arc<String>)>>,
    pages: AtomicU64,
}

/// A data set that is being made, or was when its run was stopped.
#[derive(Debug, PartialEq, Serialize)]
struct Unfinished {
    name: String,
    schema: String,
    parts: u64,
    bytes: u64,
    /// Since something was written.
    seconds: u64,
}

impl LiveServer {
    /// Take the address of a folder that is there.
    ///
    /// # Errors
    /// When the folder is not there or the address is not free.
    pub fn bind(settings: LiveSettings) -> Result<LiveServer, Error> {
        if let Err(source) = fs::read_dir(&settings.folder) {
            return Err(Error::Folder { folder: settings.folder, source });
        }
        let taken = Taken::new(&settings.listen)?;
        Ok(LiveServer { settings, taken })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.taken.address()
    }

    /// Answer until `stop` is raised; the number of requests, and of pages that were made.
    ///
    /// # Errors
    /// When threads cannot be started.
    pub fn run(self, stop: &AtomicBool) -> Result<(u64, u64), Error> {
        let LiveServer { settings, taken } = self;
        let gate = Arc::new(Gate::new(settings.limits, None));
        let grace = settings.grace;
        let service = Arc::new(Service {
            gate: Arc::clone(&gate),
            settings,
            is_local: taken.address().ip().is_loopback(),
            maker: Arc::new(Semaphore::new(1)),
            page: Mutex::new(None),
            pages: AtomicU64::new(0),
        });
        // Nothing but a stop ends it.
        let (_runs, ended) = oneshot::channel();
        wait_for(taken, router(Arc::clone(&service)), &gate, stop, ended, grace)?;
        Ok((gate.requests.load(Ordering::Relaxed), service.pages.load(Ordering::Relaxed)))
    }
}

fn router(service: Arc<Service>) -> Router {
    let gate = Arc::clone(&service.gate);
    let router = Router::new()
        .route("/", get(shell))
        .route("/page", get(report))
        .route("/state", get(state))
        .with_state(Arc::clone(&service));
    gate.guard(page::at_home(router, service.is_local), ADDRESSES)
}

/// What stands around the page.
async fn shell(State(service): State<Arc<Service>>) -> Response {
    let (version, _) = look(&service.settings.folder);
    let style = include_str!("live.css");
    let script = include_str!("live.js");
    // The state's name is of digits and letters: it is the nonce too.
    let shell = format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>Stampmill report, live</title>\
         <meta name=\"viewport\" content=\"width=device-width\"><meta http-equiv=\"Content-Security-Policy\" \
         content=\"default-src 'none'; style-src 'nonce-{version}'; script-src 'nonce-{version}'; connect-src 'self'; frame-src 'self'; base-uri 'none'\">\
         <style nonce=\"{version}\">{style}</style></head><body><header><h1>Report</h1> \
         <span id=\"state\" role=\"status\"></span><ul id=\"unfinished\"></ul></header>\
         <iframe title=\"The report\" src=\"/page?{version}\" data-version=\"{version}\"></iframe>\
         <script nonce=\"{version}\">{script}</script></body></html>"
    );
    text(HTML, shell)
}

async fn state(State(service): State<Arc<Service>>) -> Response {
    let (version, unfinished) = look(&service.settings.folder);
    said(json!({"version": version, "unfinished": unfinished}).to_string())
}

async fn report(State(service): State<Arc<Service>>) -> Response {
    let deadline = Instant::now() + service.gate.limits.answer;
    let maker = Arc::clone(&service.maker);
    let made = work(&maker, deadline, move || service.page());
    match made.await {
        Ok(page) => text(HTML, page.as_ref().clone()),
        Err(refusal) => refusal.into_response(),
    }
}

impl Service {
    /// The page of what is there now; that of before where nothing has changed.
    fn page(&self) -> Result<Arc<String>, Refusal> {
        let (version, _) = look(&self.settings.folder);
        let mut kept = self.page.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((of, page)) = &*kept
            && *of == version
        {
            return Ok(Arc::clone(page));
        }
        let text = match report::page(&self.settings.folder, &self.settings.options) {
            Ok(page) => page.html,
            Err(report::Error::NoDataset(_)) => {
                "<!doctype html><html lang=\"en\"><meta name=\"viewport\" content=\"width=device-width\">\
                 <meta name=\"color-scheme\" content=\"light dark\"><title>Report</title>\
                 <h1>No data set is finished yet</h1></html>"
                    .to_owned()
            }
            Err(error) => {
                return Err(Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, "server_error", error.to_string()));
            }
        };
        self.pages.fetch_add(1, Ordering::Relaxed);
        let page = Arc::new(text);
        *kept = Some((version, Arc::clone(&page)));
        Ok(page)
    }
}

/// Which data sets are there (equal names: nothing has changed), and what is being made.
fn look(folder: &Path) -> (String, Vec<Unfinished>) {
    let (mut found, mut unfinished) = (Vec::new(), Vec::new());
    let now = SystemTime::now();
    below(folder, folder, DEPTH, now, &mut found, &mut unfinished);
    found.sort();
    unfinished.sort_by(|a: &Unfinished, b| a.name.cmp(&b.name));
    (dataset::content_hash(found.join("\n").as_bytes()), unfinished)
}

fn below(
    root: &Path,
    folder: &Path,
    depth: u32,
    now: SystemTime,
    found: &mut Vec<String>,
    unfinished: &mut Vec<Unfinished>,
) {
    if folder.join(MARKER).is_file() {
        unfinished.push(measure(root, folder, now));
        return;
    }
    let manifest = folder.join(MANIFEST);
    if let Ok(about) = fs::metadata(&manifest) {
        let changed =
            about.modified().ok().and_then(|at| at.duration_since(SystemTime::UNIX_EPOCH).ok());
        let changed = changed.map_or(0, |since| since.as_nanos());
        found.push(format!("{} {} {changed}", folder.display(), about.len()));
        return;
    }
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        // Links may lead in a circle.
        if depth > 0 && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            below(root, &entry.path(), depth - 1, now, found, unfinished);
        }
    }
}

fn measure(root: &Path, folder: &Path, now: SystemTime) -> Unfinished {
    let marker = fs::read_to_string(folder.join(MARKER)).unwrap_or_default();
    let marker: Value = serde_json::from_str(&marker).unwrap_or_default();
    let name = folder.strip_prefix(root).unwrap_or(folder).display().to_string();
    let (mut parts, mut bytes, mut seconds) = (0, 0, u64::MAX);
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let Ok(about) = entry.metadata() else { continue };
        let since = about.modified().ok().and_then(|at| now.duration_since(at).ok());
        seconds = seconds.min(since.map_or(0, |since| since.as_secs()));
        if about.is_file() && entry.path().extension().is_some_and(|kind| kind == "part") {
            parts += 1;
            bytes += about.len();
        }
    }
    Unfinished {
        name: name.trim_end_matches(".partial").to_owned(),
        schema: marker["schema"].as_str().unwrap_or("unknown").to_owned(),
        parts,
        bytes,
        seconds: if seconds == u64::MAX { 0 } else { seconds },
    }
}

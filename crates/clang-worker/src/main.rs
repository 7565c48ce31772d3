//! The clang worker: answers framed requests about programs, one after another, from inside a
//! sandbox. It is the only executable that links libclang-cpp; [`clang::Clang`] starts it.
//!
//! ```text
//! stampmill-clang                   serve requests on standard input and output
//! stampmill-clang --host-headers    the same; C and C++ programs may include the host's headers
//! stampmill-clang --version         print clang's version
//! ```

mod arguments;
#[expect(unreachable_pub, reason = "the bridge macro makes every shared structure public")]
mod bridge;
mod convert;
mod headers;

use clang::{Answer, Diagnostic, Options, Request, Severity, Triple};
use headers::HostHeaders;
use sandbox::Profile;
use std::{env, io, path::PathBuf, process::ExitCode, thread};

/// Stack of the thread that compiles. clang recurses over the syntax tree: what would overflow the
/// usual 8 MiB (some thousand nested expressions) is still answered; what overflows this is a death.
const STACK_BYTES: usize = 256 << 20;

fn main() -> ExitCode {
    let host = match env::args().nth(1).as_deref() {
        None => HostHeaders::default(),
        Some("--host-headers") => HostHeaders::find(),
        Some("--version") => {
            println!("{}", bridge::version());
            return ExitCode::SUCCESS;
        }
        Some(other) => {
            eprintln!("error: unknown argument '{other}': give --host-headers, --version or none");
            return ExitCode::from(2);
        }
    };
    let serving = thread::Builder::new().stack_size(STACK_BYTES).spawn(move || serve(&host));
    let result = serving.and_then(|thread| {
        thread.join().unwrap_or_else(|_| Err(io::Error::other("the worker panicked")))
    });
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: the clang worker cannot serve: {error}");
            ExitCode::from(2)
        }
    }
}

fn serve(host: &HostHeaders) -> io::Result<()> {
    let folders = host.folders();
    bridge::start(&headers::embedded(), &folders);
    warm_up();
    // From here on the machine's files are out of reach, but for the headers asked for.
    let readable = folders.into_iter().map(PathBuf::from).collect();
    let profile = Profile { readable, ..Profile::clang() };
    sandbox::serve(&profile, |message| {
        let answer = match postcard::from_bytes::<Request>(message) {
            Ok(request) => convert::answer(&request, host),
            Err(error) => unreadable(&error.to_string()),
        };
        postcard::to_stdvec(&answer).expect("an answer is plain data and always encodes")
    })
}

/// The answer to bytes that are no request: a client of another version wrote them.
fn unreadable(why: &str) -> Answer {
    let diagnostic = Diagnostic {
        severity: Severity::Error,
        kind: "unreadable_request".into(),
        message: format!("the clang worker cannot read the request: {why}"),
        offset: None,
        line: None,
        subject: None,
    };
    Answer { diagnostics: vec![diagnostic], ..Answer::default() }
}

/// Compiles once what most requests need, so that no request pays for clang's first-use tables.
fn warm_up() {
    let source = "kernel void A(global float* a) { a[get_global_id(0)] += 1.0f; }".to_owned();
    for triple in [Triple::Nvptx64, Triple::Spir64] {
        let options = Options { triple, optimisation: 1, ..Options::opencl() };
        let request = Request::Compile {
            source: source.clone(),
            options,
            facts: true,
            tree: true,
            bitcode: true,
        };
        convert::answer(&request, &HostHeaders::default());
    }
}

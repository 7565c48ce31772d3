//! An S3 server on loopback (`s3s-fs`, which keeps objects as files), and what stands between it and a client: a
//! proxy that makes trouble.

use crate::{home::Home, up};
use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::Arc,
    time::{Duration, Instant},
};

pub(crate) const BUCKET: &str = "programs";
const KEY: &str = "AKIDtrialtrial";
pub(crate) const SECRET: &str = "wJalrXUtnFEMItrialtrialtrial";
const PATIENCE: Duration = Duration::from_secs(30);

/// The server; it ends with this.
pub(crate) struct Server {
    child: Child,
    port: u16,
    folder: PathBuf,
}

/// Where `make test-cluster` puts it.
fn program() -> PathBuf {
    let named = std::env::var_os("STAMPMILL_S3_SERVER").map(PathBuf::from);
    named.unwrap_or_else(|| host::cache().join("s3s-fs/bin/s3s-fs"))
}

impl Server {
    /// Start one with an empty bucket.
    pub(crate) fn start(home: &Home) -> Result<Server, String> {
        let folder = home.path().join("store");
        fs::create_dir_all(folder.join(BUCKET)).map_err(|error| error.to_string())?;
        let free = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
        let port = free.map_err(|error| error.to_string())?.port();
        let program = program();
        let child = Command::new(&program)
            .args(["--host", "127.0.0.1", "--port", &port.to_string()])
            .args(["--access-key", KEY, "--secret-key", SECRET])
            .arg(&folder)
            .env("RUST_LOG", "off")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .map_err(|error| {
                format!("{}: {error}; `make test-cluster` installs it", program.display())
            })?;
        let server = Server { child, port, folder };
        let begun = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            if begun.elapsed() > PATIENCE {
                return Err("the S3 server does not listen".to_owned());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(server)
    }

    /// The variables by which a command finds it.
    pub(crate) fn variables(&self) -> [(&'static str, String); 6] {
        variables(self.port)
    }

    /// `stampmill` in a home, with that server.
    pub(crate) fn command(&self, home: &Home) -> Command {
        with(home, self.port)
    }

    /// The file of an object.
    pub(crate) fn file(&self, key: &str) -> PathBuf {
        self.folder.join(BUCKET).join(key)
    }

    /// Names of what stands below a key, whole paths, sorted.
    pub(crate) fn names(&self, key: &str) -> Vec<String> {
        let mut found = Vec::new();
        walk(&self.file(key), &mut found);
        let root = self.folder.join(BUCKET);
        let name = |path: &PathBuf| {
            path.strip_prefix(&root).unwrap_or(path).to_string_lossy().into_owned()
        };
        let mut names: Vec<String> = found.iter().map(name).collect();
        names.sort();
        names
    }

    /// A proxy before it, and the port of that.
    pub(crate) fn behind(
        &self,
        trouble: impl Fn(&str, &str) -> Trouble + Send + Sync + 'static,
    ) -> Result<u16, String> {
        proxy(self.port, trouble).map_err(|error| error.to_string())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.path().is_dir() {
            true => walk(&entry.path(), found),
            false => found.push(entry.path()),
        }
    }
}

fn variables(port: u16) -> [(&'static str, String); 6] {
    [
        ("AWS_ACCESS_KEY_ID", KEY.to_owned()),
        ("AWS_SECRET_ACCESS_KEY", SECRET.to_owned()),
        ("AWS_ENDPOINT_URL", format!("http://127.0.0.1:{port}")),
        ("AWS_ALLOW_HTTP", "true".to_owned()),
        ("AWS_REGION", "us-east-1".to_owned()),
        ("AWS_MAX_ATTEMPTS", "3".to_owned()),
    ]
}

/// `stampmill` in a home, with a store at that port.
pub(crate) fn with(home: &Home, port: u16) -> Command {
    let mut command = up::command(home);
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("AWS_") {
            command.env_remove(name);
        }
    }
    command.envs(variables(port));
    command
}

/// What the proxy does with a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// It passes it on.
    None,
    /// It says that the store is busy.
    Busy,
    /// It passes it on after a while.
    Slow(Duration),
    /// It passes it on, and half of the answer's body.
    Half,
}

const BUSY: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?><Error><Code>SlowDown</Code><Message>busy</Message></Error>";

/// Asks `trouble` of each request's method and path.
fn proxy(
    to: u16,
    trouble: impl Fn(&str, &str) -> Trouble + Send + Sync + 'static,
) -> std::io::Result<u16> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let port = listener.local_addr()?.port();
    let trouble = Arc::new(trouble);
    std::thread::spawn(move || {
        for client in listener.incoming().map_while(Result::ok) {
            let trouble = Arc::clone(&trouble);
            // A client that leaves early is not what is tried.
            std::thread::spawn(move || drop(pass(&client, to, &*trouble)));
        }
    });
    Ok(port)
}

/// The head of a request or an answer, and the length of its body.
fn head(from: &mut impl BufRead) -> std::io::Result<(Vec<String>, u64)> {
    let (mut lines, mut length) = (Vec::new(), 0);
    loop {
        let mut line = String::new();
        if from.read_line(&mut line)? == 0 || line.trim().is_empty() {
            return Ok((lines, length));
        }
        let (name, value) = line.split_once(':').unwrap_or_default();
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.trim().parse().unwrap_or(0),
            "connection" => continue,
            _ => {}
        }
        lines.push(line);
    }
}

fn pass(
    client: &TcpStream,
    to: u16,
    trouble: &dyn Fn(&str, &str) -> Trouble,
) -> std::io::Result<()> {
    let mut from = BufReader::new(client);
    let (lines, length) = head(&mut from)?;
    let mut body = Vec::new();
    from.take(length).read_to_end(&mut body)?;
    let mut words = lines.first().map(String::as_str).unwrap_or_default().split(' ');
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let trouble = trouble(method, path);
    let mut client = client;
    if trouble == Trouble::Busy {
        let length = BUSY.len();
        return write!(
            client,
            "HTTP/1.1 503 Service Unavailable\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{BUSY}"
        );
    }
    if let Trouble::Slow(time) = trouble {
        std::thread::sleep(time);
    }
    let mut server = TcpStream::connect(("127.0.0.1", to))?;
    write!(server, "{}connection: close\r\n\r\n", lines.concat())?;
    server.write_all(&body)?;
    let mut answer = BufReader::new(server);
    let (lines, length) = head(&mut answer)?;
    write!(client, "{}connection: close\r\n\r\n", lines.concat())?;
    let most = if trouble == Trouble::Half { length / 2 } else { u64::MAX };
    std::io::copy(&mut answer.take(most), &mut client).map(drop)
}

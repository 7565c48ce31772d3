//! An HTTP server that tests put in the place of a real one: it gives the answers it is told to give.
//!
//! ```
//! use std::{io::{Read, Write}, net::TcpStream};
//! let address = stampmill_stand_in::serve(|request| Some(stampmill_stand_in::Response::new(request.url)))?;
//! let mut client = TcpStream::connect(address)?;
//! client.write_all(b"GET /here HTTP/1.1\r\n\r\n")?;
//! let mut answer = String::new();
//! client.read_to_string(&mut answer)?;
//! assert!(answer.starts_with("HTTP/1.1 200 ") && answer.ends_with("/here"));
//! # Ok::<(), std::io::Error>(())
//! ```

use std::{
    io::{BufRead, BufReader, Error, ErrorKind, Read, Result, Write},
    net::{SocketAddr, TcpListener, TcpStream},
};

/// What a client sent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// Path and query.
    pub url: String,
    /// Names in small letters, and values.
    pub headers: Vec<(String, String)>,
    /// What follows the head.
    pub body: Vec<u8>,
}

impl Request {
    /// The value of a header, named in small letters.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
    }

    fn read(stream: &TcpStream) -> Result<Request> {
        let wrong = |why: &str| Error::new(ErrorKind::InvalidData, why.to_owned());
        let mut stream = BufReader::new(stream);
        let mut line = String::new();
        stream.read_line(&mut line)?;
        let url = line.split(' ').nth(1).ok_or_else(|| wrong("no HTTP"))?.to_owned();
        let mut request = Request { url, ..Request::default() };
        loop {
            line.clear();
            stream.read_line(&mut line)?;
            let Some((name, value)) = line.split_once(':') else { break };
            request.headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        let length = request.header("content-length").unwrap_or("0").parse();
        let length: usize = length.map_err(|_| wrong("no length"))?;
        request.body.resize(length, 0);
        stream.read_exact(&mut request.body)?;
        Ok(request)
    }
}

/// What is sent back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Response {
    status: u16,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
    claimed: Option<usize>,
}

impl Response {
    /// Of status 200.
    #[must_use]
    pub fn new(body: impl Into<Vec<u8>>) -> Response {
        Response { status: 200, headers: Vec::new(), body: body.into(), claimed: None }
    }

    /// The same with another status.
    #[must_use]
    pub fn status(self, status: u16) -> Response {
        Response { status, ..self }
    }

    /// The same with one header more.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Response {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The same that says it has so many bytes: a client that waits for more finds the connection closed.
    #[must_use]
    pub fn claims(self, bytes: usize) -> Response {
        Response { claimed: Some(bytes), ..self }
    }

    fn write(&self, mut stream: &TcpStream) -> Result<()> {
        let Response { status, headers, body, claimed } = self;
        write!(stream, "HTTP/1.1 {status} -\r\nconnection: close\r\n")?;
        for (name, value) in headers {
            write!(stream, "{name}: {value}\r\n")?;
        }
        write!(stream, "content-length: {}\r\n\r\n", claimed.unwrap_or(body.len()))?;
        stream.write_all(body)
    }
}

/// Answer requests, one after the other, at a free port of this machine until the process ends. A request that
/// `answer` gives no response to never hears back.
///
/// # Errors
/// When no port can be had.
pub fn serve(
    mut answer: impl FnMut(Request) -> Option<Response> + Send + 'static,
) -> Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    std::thread::spawn(move || {
        let mut silent = Vec::new();
        for stream in listener.incoming().map_while(Result::ok) {
            // A client that leaves early is not what is tested.
            let Ok(request) = Request::read(&stream) else { continue };
            match answer(request) {
                Some(response) => drop(response.write(&stream)),
                None => silent.push(stream),
            }
        }
    });
    Ok(address)
}

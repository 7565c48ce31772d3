//! A worker for the tests of this crate: does to itself what the request says.

use stampmill_sandbox::Profile;
use std::{net::TcpStream, time::Duration};

fn main() -> std::io::Result<()> {
    let profile: Profile = std::env::args()
        .nth(1)
        .and_then(|text| serde_json::from_str(&text).ok())
        .unwrap_or_else(Profile::clang);
    stampmill_sandbox::serve(&profile, |request| match request {
        b"crash" => std::process::abort(),
        b"leave" => std::process::exit(7),
        b"hang" => loop {
            std::thread::sleep(Duration::from_secs(1));
        },
        b"spin" => loop {
            std::hint::spin_loop();
        },
        b"eat" => {
            let mut hoard: Vec<Vec<u8>> = Vec::new();
            loop {
                hoard.push(vec![1; 16 << 20]);
            }
        }
        b"flood" => vec![0; usize::try_from(profile.output_bytes).unwrap_or(0) + 1],
        b"write" => report(std::fs::write("/tmp/stampmill-sandbox-leak", b"leak")),
        b"fork" => report(std::process::Command::new("/bin/true").status()),
        [b's', b'a', b'y', b' ', words @ ..] => {
            eprintln!("{}", String::from_utf8_lossy(words));
            Vec::new()
        }
        [b'd', b'i', b'e', b' ', words @ ..] => {
            eprintln!("{}", String::from_utf8_lossy(words));
            std::process::abort()
        }
        [b'n', b'e', b't', b'w', b'o', b'r', b'k', b' ', address @ ..] => {
            report(TcpStream::connect(String::from_utf8_lossy(address).as_ref()))
        }
        other => other.to_vec(),
    })
}

fn report<T>(result: std::io::Result<T>) -> Vec<u8> {
    match result {
        Ok(_) => b"allowed".to_vec(),
        Err(error) => format!("{:?}", error.kind()).into_bytes(),
    }
}

use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use std::{fmt, fs, net::IpAddr, path::Path};

/// Shorter ones could be guessed.
const SHORTEST: usize = 16;
const LONGEST: usize = 512;

/// What whoever speaks to a scheduler off loopback must know.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Token(String);

impl Token {
    /// Read it from a file.
    ///
    /// # Errors
    /// When that cannot be read or holds none.
    pub fn read(file: &Path) -> Result<Token> {
        let action = format!("read {}", file.display());
        let text = fs::read_to_string(file).map_err(crate::error::machine(&action))?;
        let text = text.trim();
        // As in RFC 6750 without `+/=`: it stands in headers as it is.
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-._~".contains(c);
        match (SHORTEST..=LONGEST).contains(&text.len()) && text.chars().all(is_plain) {
            true => Ok(Token(text.to_owned())),
            false => Err(Error::NoToken(file.to_owned())),
        }
    }

    /// As it is sent.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.0
    }

    /// Whether this is what was sent; takes as long whatever that is.
    #[must_use]
    pub fn is(&self, sent: &str) -> bool {
        dataset::content_hash(self.0.as_bytes()) == dataset::content_hash(sent.as_bytes())
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(..)")
    }
}

/// Where a scheduler is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Address {
    /// `http://HOST:PORT`.
    url: String,
    /// The token that it wants, if it wants one.
    pub token: Option<Token>,
}

impl Address {
    /// An address as users write it: `http://HOST:PORT`, or `HOST:PORT`.
    ///
    /// # Errors
    /// When it is none.
    pub fn new(url: &str, token: Option<Token>) -> Result<Address> {
        let bare = url.strip_prefix("http://").unwrap_or(url).trim_end_matches('/');
        let is_good = bare.rsplit_once(':').is_some_and(|(host, port)| {
            let is_host = |c: char| c.is_ascii_alphanumeric() || "-.:[]_".contains(c);
            !host.is_empty() && host.chars().all(is_host) && port.parse::<u16>().is_ok()
        });
        match is_good {
            true => Ok(Address { url: format!("http://{bare}"), token }),
            false => Err(Error::Address(url.to_owned())),
        }
    }

    /// `HOST`.
    #[must_use]
    pub fn host(&self) -> &str {
        let bare = self.url.trim_start_matches("http://");
        bare.rsplit_once(':').map_or(bare, |(host, _)| host)
    }

    /// `http://HOST:PORT`.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }
}

/// Whether only this machine reaches what listens there.
#[must_use]
pub fn is_loopback(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    bare == "localhost" || bare.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_have_a_host_and_a_port() {
        let url = |text: &str| Address::new(text, None).map(|address| address.url).ok();
        assert_eq!(url("http://a.b:50050/").as_deref(), Some("http://a.b:50050"));
        assert_eq!(url("127.0.0.1:1").as_deref(), Some("http://127.0.0.1:1"));
        for wrong in ["", "host", "host:port", "https://host:1", "http://:1", "a b:1", "h:99999"] {
            assert_eq!(url(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_token_is_long_and_plain() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("token");
        let read = |text: &str| {
            fs::write(&file, text).unwrap();
            Token::read(&file)
        };
        let token = read("0123456789abcdef\n").unwrap();
        assert!(token.is("0123456789abcdef") && !token.is("0123456789abcdeF") && !token.is(""));
        for wrong in ["", "short", "0123456789 abcdef", "0123456789abcde\u{fc}"] {
            assert!(matches!(read(wrong), Err(Error::NoToken(_))), "{wrong}");
        }
        assert!(!format!("{token:?}").contains("0123"));
    }

    #[test]
    fn loopback_is_this_machine_alone() {
        assert!(
            ["127.0.0.1", "localhost", "::1", "[::1]", "127.9.9.9"]
                .map(is_loopback)
                .iter()
                .all(|is| *is)
        );
        assert!(!["0.0.0.0", "10.0.0.1", "::", "host"].map(is_loopback).iter().any(|is| *is));
    }
}

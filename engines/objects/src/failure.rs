//! What went wrong, in words, without what others should not read.

use object_store::Error;

/// Variables whose values are never told.
const SECRET: [&str; 4] = [
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "AWS_ACCESS_KEY_ID",
    "AWS_CONTAINER_AUTHORIZATION_TOKEN",
];

/// Letters of what a store says.
const LONGEST: usize = 300;

/// An error for people.
pub(crate) fn told(error: &Error, bucket: &str) -> String {
    let whole = error.to_string();
    let is_refused =
        matches!(error, Error::PermissionDenied { .. } | Error::Unauthenticated { .. })
            || status(&whole)
                .is_some_and(|status| status.starts_with("401") || status.starts_with("403"));
    let said = match error {
        _ if lacks_bucket(error) => format!(
            "there is no bucket `{bucket}` at {}: name another, or make it first",
            endpoint()
        ),
        _ if is_refused => format!(
            "{} refuses the credentials{}: check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_REGION, and what \
they may do in `{bucket}`",
            endpoint(),
            code(&whole).map(|code| format!(" ({code})")).unwrap_or_default()
        ),
        Error::Generic { store: "file", source } => source.to_string(),
        Error::Precondition { .. } => "it was replaced while it was read: try again".to_owned(),
        _ => format!("{} does not do it: {}{}", endpoint(), reason(error, &whole), tries(&whole)),
    };
    without_secrets(&said)
}

/// Whether there is no such bucket: whoever asks for an object alone knows what that lacks.
pub(crate) fn lacks_bucket(error: &Error) -> bool {
    matches!(error, Error::NotFound { .. }) || code(&error.to_string()) == Some("NoSuchBucket")
}

/// Where the store is, without users and passwords.
fn endpoint() -> String {
    let named = ["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT"];
    let url = named.iter().find_map(|name| std::env::var(name).ok().filter(|url| !url.is_empty()));
    let Some(url) = url else { return "Amazon S3".to_owned() };
    let bare = url.split_once("://").map_or(url.as_str(), |(_, rest)| rest);
    let host = bare.split(['/', '?', '#']).next().unwrap_or_default();
    host.rsplit('@').next().unwrap_or_default().to_owned()
}

/// The status and the store's own word for what is wrong.
fn reason(error: &Error, whole: &str) -> String {
    match (status(whole), code(whole)) {
        (Some(status), Some(code)) => format!("{status} ({code})"),
        (Some(status), None) => status,
        (None, _) => {
            let mut innermost: &dyn std::error::Error = error;
            while let Some(source) = innermost.source() {
                innermost = source;
            }
            innermost.to_string().chars().take(LONGEST).collect()
        }
    }
}

fn status(whole: &str) -> Option<String> {
    let (_, rest) = whole.split_once("status code: ")?;
    Some(rest.chars().take_while(|c| *c != ':').collect())
}

fn code(whole: &str) -> Option<&str> {
    let (_, rest) = whole.split_once("<Code>")?;
    let (code, _) = rest.split_once("</Code>")?;
    code.bytes().all(|c| c.is_ascii_alphanumeric()).then_some(code)
}

/// How often it was tried.
fn tries(whole: &str) -> String {
    let retries = whole.split_once(", after ").and_then(|(_, rest)| rest.split_once(" retries"));
    match retries.and_then(|(number, _)| number.parse::<u32>().ok()) {
        Some(retries) => {
            format!("; it was tried {} times, AWS_MAX_ATTEMPTS says how often", retries + 1)
        }
        None => String::new(),
    }
}

fn without_secrets(text: &str) -> String {
    let mut text = text.to_owned();
    for value in SECRET.iter().filter_map(|name| std::env::var(name).ok()) {
        if value.len() > 3 {
            text = text.replace(&value, "…");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn generic(text: &str) -> Error {
        Error::Generic { store: "S3", source: text.to_owned().into() }
    }

    #[test]
    fn what_a_store_says_is_told_in_short() {
        let long = "Error performing GET http://127.0.0.1:1/b/k in 1.2s, after 3 retries, max_retries: 3, retry_timeout: 120s  \
- Server returned non-2xx status code: 503 Service Unavailable: <Error><Code>SlowDown</Code><Message>no</Message></Error>";
        let said = told(&generic(long), "bucket");
        assert!(
            said.contains("503 Service Unavailable (SlowDown); it was tried 4 times"),
            "{said}"
        );
        let said = told(&generic("connection refused"), "bucket");
        assert!(said.ends_with("connection refused"), "{said}");
        let denied = Error::PermissionDenied {
            path: "k".into(),
            source: "<Code>AccessDenied</Code>".into(),
        };
        let said = told(&denied, "bucket");
        assert!(
            said.contains("(AccessDenied)") && said.contains("AWS_SECRET_ACCESS_KEY"),
            "{said}"
        );
    }

    #[test]
    fn a_code_is_one_word() {
        assert_eq!(code("<Code>SlowDown</Code>"), Some("SlowDown"));
        assert_eq!(code("<Code>\u{1b}[31m</Code>"), None);
        assert_eq!(code("nothing"), None);
    }
}

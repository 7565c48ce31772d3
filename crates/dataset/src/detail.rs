/// What stands for a name that chance gave.
const CHANCE: &str = "temporary";

/// A detail without what differs from run to run: a path to a temporary file is cut down to what
/// follows the last of its random names. `/tmp/stampmill-time-x8Lk2p/a.c:3` becomes
/// `temporary/a.c:3`, a driver's `tempfile_QoaQGQ.cl:1:43` becomes `temporary.cl:1:43`.
#[must_use]
pub fn without_chance(detail: &str) -> String {
    let ends = |c: char| c.is_whitespace() || "\"'`()[]<>,;:=".contains(c);
    let mut kept = String::with_capacity(detail.len());
    let mut rest = detail;
    while let Some(at) = rest.find('/') {
        let before = rest[..at]
            .rfind(ends)
            .map_or(0, |at| at + rest[at..].chars().next().map_or(1, char::len_utf8));
        let end = rest[at..].find(ends).map_or(rest.len(), |length| at + length);
        kept.push_str(&rest[..before]);
        kept.push_str(&plain(&rest[before..end]));
        rest = &rest[end..];
    }
    kept.push_str(rest);
    kept
}

fn plain(path: &str) -> String {
    let parts: Vec<&str> = path.split('/').collect();
    let Some(last) = parts.iter().rposition(|part| is_random(part)) else { return path.to_owned() };
    let extension = parts[last].rsplit_once('.').filter(|(name, _)| !name.is_empty());
    let extension = extension.map_or_else(String::new, |(_, extension)| format!(".{extension}"));
    let behind = parts[last + 1..].iter().map(|part| format!("/{part}")).collect::<String>();
    format!("{CHANCE}{extension}{behind}")
}

/// Whether a file or folder has a name of those that temporary ones get: ours, `tempfile`'s own, a
/// driver's, a compiler's.
fn is_random(name: &str) -> bool {
    let stem = name.trim_start_matches('.').split('.').next().unwrap_or_default();
    let drawn = |text: &str| {
        text.len() >= 6 && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
    };
    let tail = |prefix: &str| stem.strip_prefix(prefix).is_some_and(drawn);
    // `stampmill-device-W2DOzX`, but not the programs beside the main one.
    let ours = stem.strip_prefix("stampmill-").and_then(|rest| rest.rsplit_once('-'));
    let ours = ours.is_some_and(|(_, random)| random != "plugin" && drawn(random));
    let compiler = stem.len() == 8 && tail("cc");
    ours || compiler
        || tail("tempfile_")
        || tail("tempfile-")
        || name.starts_with(".tmp") && tail("tmp")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_chance_named_is_gone_and_all_else_stays() {
        for (detail, plain) in [
            (
                "error: /tmp/stampmill-device-W2DOzX/tempfile_QoaQGQ.cl:1:43: use of `x/y`",
                "error: temporary.cl:1:43: use of `x/y`",
            ),
            ("/tmp/stampmill-time-x8Lk2p/a.c:3: no", "temporary/a.c:3: no"),
            (
                "ld: /tmp/ccAb12Cd.o: undefined (/tmp/.tmpQw3rTy)",
                "ld: temporary.o: undefined (temporary)",
            ),
            ("é/tmp/.tmpQw3rTy/é", "temporary/é"),
            ("cannot read /home/me/kernels/a.cl: a/b", "cannot read /home/me/kernels/a.cl: a/b"),
            ("", ""),
            ("//", "//"),
        ] {
            assert_eq!(without_chance(detail), plain);
            assert_eq!(without_chance(plain), plain);
        }
    }
}

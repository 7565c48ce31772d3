//! Durations as people write them: `60s`, `5m`.

use std::time::Duration;

/// A duration: `250ms`, `60s`, `5m`, `1h`.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let wrong = || format!("`{text}` is no duration; write 250ms, 60s, 5m or 1h");
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let number: f64 = text[..digits].parse().map_err(|_| wrong())?;
    let seconds = match &text[digits..] {
        "ms" => 0.001,
        "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return Err(wrong()),
    };
    Duration::try_from_secs_f64(number * seconds).map_err(|_| wrong())
}

/// The same, of a limit: longer than nothing.
pub(crate) fn limit(text: &str) -> Result<Duration, String> {
    let limit = duration(text)?;
    if limit.is_zero() {
        return Err("nothing is done in no time; write 250ms, 60s, 5m or 1h".to_owned());
    }
    Ok(limit)
}

#[cfg(test)]
mod tests {
    use super::duration;
    use std::time::Duration;

    #[test]
    fn durations_read_as_people_write_them() {
        assert_eq!(duration("60s"), Ok(Duration::from_secs(60)));
        assert_eq!(duration("1.5m"), Ok(Duration::from_secs(90)));
        for wrong in ["", "x", "5", "5 apples"] {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
    }
}

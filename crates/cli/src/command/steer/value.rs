//! Values of flags.

use crate::duration::duration;
use synth::Budget;

pub(super) fn budget(text: &str) -> Result<Budget, String> {
    if let Some(text) = text.strip_prefix("cpu:") {
        return duration(text).map(Budget::Processor);
    }
    match text.parse::<u64>() {
        Ok(0) => Err("a budget of no candidates".to_owned()),
        Ok(count) => Ok(Budget::Candidates(count)),
        Err(_) => duration(text).map(Budget::Wall).map_err(|_| {
            format!(
                "`{text}` is no budget: time (60s), processor time (cpu:30s) or candidates (5000)"
            )
        }),
    }
}

pub(super) fn probability(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if (0.0..=1.0).contains(&value) => Ok(value),
        _ => Err(format!("`{text}` is no probability: 0 to 1, such as 0.15")),
    }
}

pub(super) fn temperature(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() && value >= 0.0 => Ok(value),
        _ => Err(format!("`{text}` is no temperature: 0 or more, such as 0.3")),
    }
}

pub(super) fn margin(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() && value >= 1.0 => Ok(value),
        _ => Err(format!("`{text}` is no margin: how many times as fast, 1 or more, such as 2")),
    }
}

pub(in crate::command) fn bits(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() && value > 0.0 => Ok(value),
        _ => Err(format!("`{text}` is no number of bits: above 0, such as 2.5")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_number_is_no_probability_and_no_temperature() {
        assert_eq!(probability("0.15"), Ok(0.15));
        assert_eq!(temperature("0"), Ok(0.0));
        assert_eq!(bits("2.5"), Ok(2.5));
        for wrong in ["nan", "inf", "-1", "0", "x"] {
            assert!(bits(wrong).is_err(), "{wrong}");
        }
        assert_eq!(margin("2"), Ok(2.0));
        for wrong in ["nan", "inf", "0.5", "x"] {
            assert!(margin(wrong).is_err(), "{wrong}");
        }
        for wrong in ["nan", "2", "-0.1", "x", ""] {
            assert!(probability(wrong).is_err(), "{wrong}");
        }
        for wrong in ["nan", "inf", "-1", "x"] {
            assert!(temperature(wrong).is_err(), "{wrong}");
        }
    }
}

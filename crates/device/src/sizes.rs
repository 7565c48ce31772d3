use crate::{Error, Result};

/// Read a list of sizes: `4096`, `2^12`, `64Ki`, `1Mi`, ranges of powers of two `2^7..2^24` (both
/// ends included), several with commas. Ascending, each once; a size of 0 is read too, for it is
/// the run that says what it thinks of it.
///
/// # Errors
/// Names the part that is no size.
pub fn sizes(text: &str) -> Result<Vec<u64>> {
    let mut all = Vec::new();
    for part in text.split(',').map(str::trim) {
        let wrong = || Error::Size(part.to_owned());
        match part.split_once("..") {
            None => all.push(size(part).ok_or_else(wrong)?),
            Some((from, to)) => {
                let (from, to) = (size(from).ok_or_else(wrong)?, size(to).ok_or_else(wrong)?);
                if from > to {
                    return Err(Error::Backwards(part.to_owned()));
                }
                if from == 0 {
                    return Err(wrong());
                }
                let doubled = std::iter::successors(Some(from), |size| size.checked_mul(2));
                all.extend(doubled.take_while(|size| *size <= to));
            }
        }
    }
    all.sort_unstable();
    all.dedup();
    Ok(all)
}

fn size(text: &str) -> Option<u64> {
    let text = text.trim();
    if let Some((base, exponent)) = text.split_once('^') {
        return base.parse::<u64>().ok()?.checked_pow(exponent.parse().ok()?);
    }
    for (unit, shift) in [("Ki", 10), ("Mi", 20), ("Gi", 30)] {
        if let Some(count) = text.strip_suffix(unit) {
            return count.parse::<u64>().ok()?.checked_mul(1 << shift);
        }
    }
    text.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_single_sizes_powers_and_ranges() {
        assert_eq!(sizes("2^7..2^9,100").expect("sizes"), [100, 128, 256, 512]);
        assert_eq!(sizes("64Ki, 64Ki,1").expect("sizes"), [1, 65536]);
        assert_eq!(sizes("3..20").expect("sizes"), [3, 6, 12]);
    }

    #[test]
    fn says_which_part_is_no_size() {
        for text in ["", "2^", "many", "2^9..2^7", "0..4", "-4", "2^99"] {
            let message = sizes(text).expect_err("no size").to_string();
            assert!(message.contains(&format!("`{text}`")), "{message}");
        }
    }
}

//! Sizes and counts as people write them: `64MiB`, `2^20`, `2e9`.

/// A number of bytes: `64MiB`, `4GiB`, `2^20`, `1000000`.
pub(crate) fn size(text: &str) -> Result<u64, String> {
    let wrong = || format!("`{text}` is no size; write 64MiB, 4GiB or 2^20");
    let units = [("KiB", 10), ("MiB", 20), ("GiB", 30), ("B", 0)];
    let unit = units.iter().find_map(|(name, shift)| Some((text.strip_suffix(name)?, *shift)));
    let (digits, shift) = unit.unwrap_or((text, 0));
    let number = number(digits.trim()).ok_or_else(wrong)?;
    number.checked_mul(1 << shift).filter(|bytes| *bytes > 0).ok_or_else(wrong)
}

/// A count: `2000000`, `2^31`, `2e9`.
pub(crate) fn count(text: &str) -> Result<u64, String> {
    number(text).ok_or_else(|| format!("`{text}` is no count; write 2000000, 2^31 or 2e9"))
}

fn number(text: &str) -> Option<u64> {
    let plain = |text: &str| text.replace('_', "").parse::<u64>().ok();
    match text.split_once(['^', 'e']) {
        None => plain(text),
        Some((base, power)) if text.contains('^') => plain(base)?.checked_pow(plain(power)? as u32),
        Some((factor, power)) => {
            10_u64.checked_pow(plain(power)? as u32)?.checked_mul(plain(factor)?)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{count, size};

    #[test]
    fn sizes_and_counts_read_as_people_write_them() {
        assert_eq!(
            (size("64MiB"), size("2^20"), size("4 GiB")),
            (Ok(64 << 20), Ok(1 << 20), Ok(4 << 30))
        );
        assert_eq!(
            (count("2e9"), count("2^31"), count("1_000")),
            (Ok(2_000_000_000), Ok(1 << 31), Ok(1000))
        );
        for wrong in ["", "MiB", "-1", "1.5GiB", "2^99", "9e99", "0B", "many"] {
            assert!(size(wrong).is_err(), "{wrong}");
        }
    }
}

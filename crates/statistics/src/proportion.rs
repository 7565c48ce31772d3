/// The normal distribution's quantile for [`COVERAGE`](crate::COVERAGE).
const QUANTILE: f64 = 1.959_963_984_540_054;

/// Wilson's 95 % interval of a share (E. B. Wilson, "Probable Inference, the Law of Succession, and Statistical
/// Inference", 1927), within 0 and 1; `None` of nothing.
#[must_use]
pub fn wilson_interval(hits: u64, of: u64) -> Option<[f64; 2]> {
    if of == 0 {
        return None;
    }
    let (count, square) = (of as f64, QUANTILE * QUANTILE);
    let share = hits as f64 / count;
    let middle = share + square / (2.0 * count);
    let half = QUANTILE * (share * (1.0 - share) / count + square / (4.0 * count * count)).sqrt();
    let scale = 1.0 + square / count;
    Some([((middle - half) / scale).max(0.0), ((middle + half) / scale).min(1.0)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_have_the_published_intervals() {
        let rounded = |hits, of| {
            wilson_interval(hits, of).map(|ends| ends.map(|end| (end * 1e4).round() / 1e4))
        };
        assert_eq!(rounded(0, 0), None);
        // R. G. Newcombe, "Two-sided confidence intervals for the single proportion", 1998, table I, method 3.
        assert_eq!(rounded(81, 263), Some([0.2553, 0.3662]));
        assert_eq!(rounded(15, 148), Some([0.0624, 0.1605]));
        assert_eq!(rounded(0, 20), Some([0.0, 0.1611]));
        assert_eq!(rounded(20, 20), Some([0.8389, 1.0]));
    }
}

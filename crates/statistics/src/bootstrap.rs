use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Share of the draws inside an interval.
pub const COVERAGE: f64 = 0.95;

/// 95 % percentile interval of a figure by the bootstrap over groups (Efron and Tibshirani, "An Introduction to the
/// Bootstrap", 1993, section 13.3): `groups` groups are drawn with replacement, `draws` times, since members of a group
/// are alike. `figure` is given the numbers of the drawn groups. Where nothing is grouped, a group is one value.
///
/// `None` without groups, or where no draw has a finite figure; draws without one are left out. The same seed gives
/// the same interval.
pub fn bootstrap_interval(
    groups: usize,
    draws: usize,
    seed: u64,
    mut figure: impl FnMut(&[usize]) -> f64,
) -> Option<[f64; 2]> {
    if groups == 0 {
        return None;
    }
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut drawn = vec![0; groups];
    let mut figures: Vec<f64> = (0..draws)
        .map(|_| {
            drawn.fill_with(|| rng.random_range(0..groups));
            figure(&drawn)
        })
        .filter(|figure| figure.is_finite())
        .collect();
    figures.sort_unstable_by(f64::total_cmp);
    let tail = (figures.len() as f64 * (1.0 - COVERAGE) / 2.0) as usize;
    Some([*figures.get(tail)?, *figures.get(figures.len() - 1 - tail)?])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of_mean(values: &[f64], seed: u64) -> Option<[f64; 2]> {
        bootstrap_interval(values.len(), 1000, seed, |drawn| {
            drawn.iter().map(|at| values[*at]).sum::<f64>() / drawn.len() as f64
        })
    }

    #[test]
    fn nothing_has_no_interval_and_equal_values_have_none_but_their_own() {
        assert_eq!(of_mean(&[], 0), None);
        assert_eq!(bootstrap_interval(3, 100, 0, |_| f64::NAN), None);
        assert_eq!(of_mean(&[2.0; 5], 0), Some([2.0, 2.0]));
    }

    proptest! {
        #[test]
        fn an_interval_lies_within_the_values_and_hangs_on_the_seed_alone(
            values in prop::collection::vec(-10.0_f64..10.0, 1..20), seed in 0_u64..9
        ) {
            let [low, high] = of_mean(&values, seed).expect("there are values");
            let least = values.iter().copied().fold(f64::INFINITY, f64::min);
            let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            prop_assert!(least - 1e-9 <= low && low <= high && high <= most + 1e-9);
            prop_assert_eq!(Some([low, high]), of_mean(&values, seed));
        }
    }
}

/// Ranks from 1, equal values sharing their mean rank.
#[must_use]
pub fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    let mut ranks = vec![0.0; values.len()];
    let mut from = 0;
    for tied in order.chunk_by(|a, b| values[*a] == values[*b]) {
        for at in tied {
            ranks[*at] = from as f64 + (tied.len() as f64 + 1.0) / 2.0;
        }
        from += tied.len();
    }
    ranks
}

/// Spearman's rank correlation of two lists of equal length: Pearson's of their [`ranks`]. NaN where one is constant.
#[must_use]
pub fn spearman(a: &[f64], b: &[f64]) -> f64 {
    let (a, b) = (ranks(a), ranks(b));
    let mean = (a.len() as f64 + 1.0) / 2.0;
    let product: f64 = a.iter().zip(&b).map(|(a, b)| (a - mean) * (b - mean)).sum();
    let square = |ranks: &[f64]| ranks.iter().map(|rank| (rank - mean).powi(2)).sum::<f64>();
    product / (square(&a) * square(&b)).sqrt()
}

/// Kendall's tau-b of two lists of equal length (Kendall, "The treatment of ties in ranking problems", 1945), by all
/// pairs. NaN where one is constant.
#[must_use]
pub fn kendall(a: &[f64], b: &[f64]) -> f64 {
    let sign = |x: f64, y: f64| if x == y { 0.0 } else { (x - y).signum() };
    let (mut sum, mut a_apart, mut b_apart) = (0.0, 0.0, 0.0);
    for one in 0..a.len() {
        for other in one + 1..a.len() {
            let (in_a, in_b) = (sign(a[one], a[other]), sign(b[one], b[other]));
            sum += in_a * in_b;
            a_apart += in_a * in_a;
            b_apart += in_b * in_b;
        }
    }
    sum / f64::sqrt(a_apart * b_apart)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_values() {
        let (a, b) = ([1.0, 2.0, 3.0, 5.0, 4.0], [10.0, 20.0, 30.0, 40.0, 50.0]);
        assert!((spearman(&a, &b) - 0.9).abs() < 1e-12);
        assert!((kendall(&a, &b) - 0.8).abs() < 1e-12);
        assert_eq!(ranks(&[2.0, 1.0, 2.0, 3.0]), [2.5, 1.0, 2.5, 4.0]);
        assert!(spearman(&[1.0, 1.0], &[1.0, 2.0]).is_nan());
    }
}

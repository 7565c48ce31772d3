use crate::Error;
use smartcore::{
    decomposition::pca::{PCA, PCAParameters},
    linalg::basic::{arrays::Array, matrix::DenseMatrix},
};

/// The two directions in which standardised vectors differ most: the first two principal components. Each value x becomes
/// ln(1 + |x|) with x's sign, and each dimension is brought to mean 0 and standard deviation 1.
#[derive(Clone, Debug)]
pub struct Plane {
    means: Vec<f64>,
    deviations: Vec<f64>,
    axes: [Vec<f64>; 2],
    /// Shares of the variance along the axes.
    pub explained: [f64; 2],
}

impl Plane {
    /// Through `vectors` of equal length, of finite numbers.
    ///
    /// # Errors
    /// With fewer than two.
    pub fn fit(vectors: &[&[f64]]) -> Result<Plane, Error> {
        if vectors.len() < 2 {
            return Err(Error::TooFew(vectors.len()));
        }
        let dimensions = vectors[0].len();
        let count = vectors.len() as f64;
        let vectors: Vec<Vec<f64>> = vectors.iter().map(|vector| damp(vector)).collect();
        let means: Vec<f64> = (0..dimensions)
            .map(|dimension| vectors.iter().map(|vector| vector[dimension]).sum::<f64>() / count)
            .collect();
        let deviations = (0..dimensions).map(|dimension| {
            // A mean is rounded: a dimension that never changes would seem to, by the last bit.
            if vectors.iter().all(|vector| vector[dimension] == vectors[0][dimension]) {
                return 0.0;
            }
            let mean = means[dimension];
            let squares: f64 =
                vectors.iter().map(|vector| (vector[dimension] - mean).powi(2)).sum();
            (squares / count).sqrt()
        });
        let deviations: Vec<f64> = deviations.collect();
        let mut plane = Plane { means, deviations, axes: Default::default(), explained: [0.0; 2] };
        let rows: Vec<Vec<f64>> = vectors.iter().map(|vector| plane.standardise(vector)).collect();
        let varying = plane.deviations.iter().filter(|deviation| **deviation > 0.0).count();
        plane.axes = match varying {
            0 => [vec![0.0; dimensions], vec![0.0; dimensions]],
            _ => axes(&rows, dimensions),
        };
        // Each varying dimension has variance 1.
        for axis in 0..2 {
            let along =
                rows.iter().map(|row| dot(row, &plane.axes[axis]).powi(2)).sum::<f64>() / count;
            plane.explained[axis] = if varying == 0 { 0.0 } else { along / varying as f64 };
        }
        Ok(plane)
    }

    fn standardise(&self, vector: &[f64]) -> Vec<f64> {
        let scaled = vector.iter().zip(&self.means).zip(&self.deviations);
        scaled
            .map(
                |((value, mean), deviation)| {
                    if *deviation > 0.0 { (value - mean) / deviation } else { 0.0 }
                },
            )
            .collect()
    }

    /// A vector as it is before it is projected: what distances are measured in.
    #[must_use]
    pub fn standard(&self, vector: &[f64]) -> Vec<f64> {
        self.standardise(&damp(vector))
    }

    /// Where a vector lies.
    #[must_use]
    pub fn place(&self, vector: &[f64]) -> [f64; 2] {
        let standard = self.standard(vector);
        [dot(&standard, &self.axes[0]), dot(&standard, &self.axes[1])]
    }
}

/// Counts have long tails: on their own scale one huge program squeezes all others into a dot.
fn damp(vector: &[f64]) -> Vec<f64> {
    vector.iter().map(|value| value.abs().ln_1p().copysign(*value)).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The first two principal directions of centred rows, each with its largest part positive.
fn axes(rows: &[Vec<f64>], dimensions: usize) -> [Vec<f64>; 2] {
    let wanted = dimensions.min(2);
    let parameters = PCAParameters::default().with_n_components(wanted);
    let fitted =
        DenseMatrix::from_2d_vec(&rows.to_vec()).and_then(|matrix| PCA::fit(&matrix, parameters));
    let axis = |component: usize| -> Vec<f64> {
        let Ok(pca) = &fitted else { return vec![0.0; dimensions] };
        if component >= wanted {
            return vec![0.0; dimensions];
        }
        let directions = pca.components();
        let axis: Vec<f64> =
            (0..dimensions).map(|dimension| *directions.get((dimension, component))).collect();
        let largest =
            axis.iter().copied().fold(0.0, |a: f64, b| if b.abs() > a.abs() { b } else { a });
        axis.into_iter().map(|part| if largest < 0.0 { -part } else { part }).collect()
    };
    [axis(0), axis(1)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_axis_follows_the_line_on_which_all_points_lie() {
        let vectors: Vec<Vec<f64>> =
            (0..20).map(|i| vec![f64::from(i), f64::from(i), 7.0]).collect();
        let plane =
            Plane::fit(&vectors.iter().map(Vec::as_slice).collect::<Vec<_>>()).expect("20 points");
        assert!((plane.explained[0] - 1.0).abs() < 1e-9, "{:?}", plane.explained);
        assert!(plane.explained[1].abs() < 1e-9);
        let along: Vec<f64> = vectors.iter().map(|vector| plane.place(vector)[0]).collect();
        assert!(along.is_sorted() && along[0] < -1.0 && along[19] > 1.0, "{along:?}");
    }

    #[test]
    fn the_largest_part_of_an_axis_is_positive() {
        // The second dimension is of more weight where the first is noise, and falls as `i` rises.
        for sign in [1.0, -1.0] {
            let vectors: Vec<Vec<f64>> = (0..20)
                .map(|i| vec![f64::from(i % 2), sign * f64::from(i), sign * f64::from(i)])
                .collect();
            let rows: Vec<Vec<f64>> =
                vectors.iter().map(|row| row.iter().map(|value| value - 1.0).collect()).collect();
            let [first, second] = axes(&rows, 3);
            for axis in [&first, &second] {
                let largest = axis.iter().copied().max_by(|a, b| a.abs().total_cmp(&b.abs()));
                assert!(largest.is_some_and(|part| part > 0.0), "{axis:?}");
            }
            assert!(first[1] > 0.5 && first[2] > 0.5, "{first:?}");
        }
    }

    #[test]
    fn two_vectors_lie_one_deviation_from_their_mean() {
        // By the logarithm of 1 + x: 0 and 2, of which one is a half.
        let vectors = [vec![0.0, 5.0], vec![2.0_f64.exp() - 1.0, 5.0]];
        let plane = Plane::fit(&[&vectors[0], &vectors[1]]).expect("two points");
        assert!((plane.means[0] - 1.0).abs() < 1e-9 && (plane.deviations[0] - 1.0).abs() < 1e-9);
        assert_eq!(plane.deviations[1], 0.0);
        for (vector, wanted) in vectors.iter().zip([-1.0, 1.0]) {
            let [x, y] = plane.place(vector);
            assert!((x - wanted).abs() < 1e-9 && y.abs() < 1e-9, "{x} {y}");
        }
        // Outside of what it was fitted to: as far as its logarithm, with its sign.
        let [x, _] = plane.place(&[1.0 - 3.0_f64.exp(), 5.0]);
        assert!((x + 4.0).abs() < 1e-9, "{x}");
        assert!((plane.explained[0] - 1.0).abs() < 1e-9 && plane.explained[1].abs() < 1e-9);
        assert!(matches!(Plane::fit(&[&vectors[0]]), Err(Error::TooFew(1))));
    }

    #[test]
    fn variance_is_shared_among_what_varies() {
        // Two dimensions that have nothing to do with each other, a third that never changes.
        let vectors = [[0.0, 0.0, 1.0], [0.0, 3.0, 1.0], [3.0, 0.0, 1.0], [3.0, 3.0, 1.0]];
        let plane = Plane::fit(&vectors.each_ref().map(|one| &one[..])).expect("four points");
        for share in plane.explained {
            assert!((share - 0.5).abs() < 1e-9, "{:?}", plane.explained);
        }
    }

    #[test]
    fn fewer_vectors_than_dimensions_are_projected_as_well() {
        let vectors = [vec![1.0; 70], (0..70).map(f64::from).collect(), vec![0.0; 70]];
        let plane =
            Plane::fit(&vectors.iter().map(Vec::as_slice).collect::<Vec<_>>()).expect("3 points");
        let explained: f64 = plane.explained.iter().sum();
        assert!((explained - 1.0).abs() < 1e-6, "three points lie in a plane: {explained}");
    }
}

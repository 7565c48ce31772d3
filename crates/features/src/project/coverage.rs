use std::collections::BTreeSet;

/// A square grid over the map.
pub(super) struct Grid {
    from: [f64; 2],
    step: [f64; 2],
    cells: usize,
}

impl Grid {
    /// Over the bounding box of `places`, `cells` by `cells`.
    pub(super) fn over<'a>(places: impl Iterator<Item = &'a [f64; 2]>, cells: usize) -> Grid {
        let mut from = [f64::INFINITY; 2];
        let mut to = [f64::NEG_INFINITY; 2];
        for place in places {
            for axis in 0..2 {
                from[axis] = from[axis].min(place[axis]);
                to[axis] = to[axis].max(place[axis]);
            }
        }
        let step = [0, 1].map(|axis| (to[axis] - from[axis]) / cells as f64);
        Grid { from, step, cells }
    }

    pub(super) fn cell(&self, place: [f64; 2]) -> [usize; 2] {
        [0, 1].map(|axis| {
            // Where all lie in one place this is no number, and as a whole one it is 0.
            let steps = (place[axis] - self.from[axis]) / self.step[axis];
            (steps as usize).min(self.cells - 1)
        })
    }
}

/// The different vectors; -0 is 0.
pub(super) fn distinct(vectors: &[Vec<f64>]) -> BTreeSet<Vec<u64>> {
    vectors.iter().map(|vector| key(vector)).collect()
}

/// How many `vectors` are in `wanted`.
pub(super) fn among(vectors: &[Vec<f64>], wanted: &BTreeSet<Vec<u64>>) -> usize {
    vectors.iter().filter(|vector| wanted.contains(&key(vector))).count()
}

fn key(vector: &[f64]) -> Vec<u64> {
    vector.iter().map(|value| (value + 0.0).to_bits()).collect()
}

/// Area of the convex hull (Andrew's monotone chain).
pub(super) fn hull_area(places: &[[f64; 2]]) -> f64 {
    let mut sorted = places.to_vec();
    sorted.sort_by(|a, b| a[0].total_cmp(&b[0]).then(a[1].total_cmp(&b[1])));
    sorted.dedup();
    let mut hull = half_hull(sorted.iter());
    hull.extend(half_hull(sorted.iter().rev()));
    let next = hull.iter().cycle().skip(1);
    let doubled: f64 = hull.iter().zip(next).map(|(a, b)| a[0] * b[1] - b[0] * a[1]).sum();
    doubled.abs() / 2.0
}

fn half_hull<'a>(places: impl Iterator<Item = &'a [f64; 2]>) -> Vec<[f64; 2]> {
    let mut hull: Vec<[f64; 2]> = Vec::new();
    for place in places {
        while let [.., a, b] = hull.as_slice() {
            let turn = (b[0] - a[0]) * (place[1] - a[1]) - (b[1] - a[1]) * (place[0] - a[0]);
            if turn > 0.0 {
                break;
            }
            hull.pop();
        }
        hull.push(*place);
    }
    // The last one begins the other half.
    hull.pop();
    hull
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_hull_of_a_square_with_points_inside_is_the_square() {
        let places = [[0.0, 0.0], [4.0, 0.0], [4.0, 4.0], [0.0, 4.0], [2.0, 2.0], [2.0, 0.0]];
        assert!((hull_area(&places) - 16.0).abs() < 1e-12);
        assert_eq!(hull_area(&[[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]]), 0.0);
        assert_eq!(hull_area(&[[0.0, 0.0], [4.0, 0.0], [0.0, 3.0]]), 6.0);
        for few in [&[][..], &[[1.0, 2.0]], &[[1.0, 2.0], [3.0, 5.0]]] {
            assert_eq!(hull_area(few), 0.0);
        }
    }

    #[test]
    fn corners_are_where_the_border_turns() {
        let places = [[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [2.0, 1.0], [2.0, 2.0]];
        assert_eq!(half_hull(places.iter()), [[0.0, 0.0], [2.0, 0.0]]);
    }

    #[test]
    fn minus_zero_is_zero_and_other_values_differ() {
        let vectors = [vec![0.0, 1.0], vec![-0.0, 1.0], vec![0.0, -1.0], vec![2.0, 1.0]];
        let different = distinct(&vectors);
        assert_eq!(different.len(), 3);
        assert_eq!(among(&[vec![-0.0, 1.0], vec![3.0, 1.0]], &different), 1);
    }

    #[test]
    fn a_place_lies_in_the_cell_that_is_as_far_from_the_corner() {
        let places = [[10.0, -4.0], [14.0, 4.0]];
        let grid = Grid::over(places.iter(), 4);
        assert_eq!(grid.cell([10.0, -4.0]), [0, 0]);
        assert_eq!(grid.cell([12.5, 1.0]), [2, 2]);
        assert_eq!(grid.cell([14.0, 4.0]), [3, 3]);
        // All in one place.
        assert_eq!(Grid::over([[1.0, 2.0]].iter(), 4).cell([1.0, 2.0]), [0, 0]);
    }

    proptest! {
        #[test]
        fn the_hull_never_shrinks_when_a_point_joins(
            places in prop::collection::vec(prop::array::uniform2(-1e3..1e3_f64), 1..40),
            another in prop::array::uniform2(-1e3..1e3_f64),
        ) {
            let before = hull_area(&places);
            let mut more = places;
            more.push(another);
            prop_assert!(hull_area(&more) >= before - 1e-6);
        }

        #[test]
        fn the_hull_is_as_large_wherever_it_lies(
            places in prop::collection::vec(prop::array::uniform2(-1e3..1e3_f64), 3..20),
            by in prop::array::uniform2(-1e3..1e3_f64),
        ) {
            let moved: Vec<[f64; 2]> =
                places.iter().map(|place| [place[0] + by[0], place[1] + by[1]]).collect();
            let turned: Vec<[f64; 2]> = places.iter().map(|place| [-place[1], place[0]]).collect();
            for other in [moved, turned] {
                prop_assert!((hull_area(&places) - hull_area(&other)).abs() < 1e-4);
            }
        }

        #[test]
        fn every_place_lies_in_a_cell_of_the_grid(
            places in prop::collection::vec(prop::array::uniform2(-1e3..1e3_f64), 1..40),
            cells in 1..50_usize,
        ) {
            let grid = Grid::over(places.iter(), cells);
            for place in &places {
                prop_assert!(grid.cell(*place).iter().all(|axis| *axis < cells));
            }
        }
    }
}

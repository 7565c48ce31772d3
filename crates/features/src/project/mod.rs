//! Maps of a feature space: where the programs of several data sets lie in it, and how much of it
//! they cover.

mod coverage;
mod pca;
mod plot;
mod points;

pub use pca::Plane;
pub use points::Points;

use crate::{Error, FeatureSpace};
use coverage::{Grid, distinct, hull_area};
use serde::Serialize;
use std::{collections::BTreeSet, path::Path};

/// Cells along each axis of the map in which coverage is counted, unless told otherwise.
pub const CELLS: usize = 32;

/// What a projection came to. Areas are in the map's own units: principal components of
/// standardised logarithms.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ProjectReport {
    /// The space.
    pub space: String,
    /// Vectors in all sets.
    pub vectors: usize,
    /// Different vectors in all sets.
    pub distinct: usize,
    /// Cells of the map with a vector in them.
    pub cells: usize,
    /// Cells of the map in all.
    pub cells_in_all: usize,
    /// Shares of the variance that the two axes explain, the larger first.
    pub explained_variance: [f64; 2],
    /// Targets, distinct ones.
    pub targets: usize,
    /// Targets with an equal vector in some set.
    pub targets_matched: usize,
    /// Of each set.
    pub sets: Vec<Coverage>,
}

/// How much of the map one set covers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Coverage {
    /// The set.
    pub name: String,
    /// Its vectors.
    pub vectors: usize,
    /// Programs of it without a vector in this space.
    pub without: usize,
    /// Different vectors.
    pub distinct: usize,
    /// Cells with a vector of it.
    pub cells: usize,
    /// Area of the convex hull of its vectors on the map.
    pub hull_area: f64,
    /// Its vectors that equal some target's (CLgen, figure 9).
    pub vectors_on_targets: usize,
    /// Targets with an equal vector in it.
    pub targets_matched: usize,
}

/// Several sets of vectors on one map.
#[derive(Clone, Debug)]
pub struct Projection {
    report: ProjectReport,
    names: Vec<String>,
    /// Of each set, and of the targets last.
    places: Vec<Vec<[f64; 2]>>,
}

/// Put `sets` on one map: the first two principal components of all their vectors together
/// (targets included). Each value x becomes ln(1 + |x|) with x's sign, because counts have long
/// tails, and each dimension is brought to mean 0 and standard deviation 1, so that large counts do
/// not drown small ones. `cells` is the number of cells along each axis.
///
/// # Errors
/// With fewer than two vectors, vectors of another length than the space's, or values that are no
/// finite numbers.
pub fn project(
    space: &dyn FeatureSpace,
    sets: &[Points],
    targets: Option<&Points>,
    cells: usize,
) -> Result<Projection, Error> {
    for points in sets.iter().chain(targets) {
        points.check(space)?;
    }
    let vectors = || sets.iter().chain(targets).flat_map(|points| &points.vectors);
    let plane = Plane::fit(&vectors().map(Vec::as_slice).collect::<Vec<_>>())?;
    let place = |points: &Points| -> Vec<[f64; 2]> {
        points.vectors.iter().map(|vector| plane.place(vector)).collect()
    };
    let places: Vec<_> = sets.iter().chain(targets).map(place).collect();
    let grid = Grid::over(places.iter().flatten(), cells.max(1));
    let wanted: BTreeSet<Vec<u64>> =
        targets.map(|points| distinct(&points.vectors)).unwrap_or_default();
    let mut occupied = BTreeSet::new();
    let mut different = BTreeSet::new();
    let mut coverages = Vec::new();
    for (points, places) in sets.iter().zip(&places) {
        let own = distinct(&points.vectors);
        let own_cells: BTreeSet<_> = places.iter().map(|place| grid.cell(*place)).collect();
        coverages.push(Coverage {
            name: points.name.clone(),
            vectors: points.vectors.len(),
            without: points.without,
            distinct: own.len(),
            cells: own_cells.len(),
            hull_area: hull_area(places),
            vectors_on_targets: coverage::among(&points.vectors, &wanted),
            targets_matched: wanted.intersection(&own).count(),
        });
        occupied.extend(own_cells);
        different.extend(own);
    }
    let report = ProjectReport {
        space: space.name().to_owned(),
        vectors: coverages.iter().map(|set| set.vectors).sum(),
        distinct: different.len(),
        cells: occupied.len(),
        cells_in_all: cells.max(1).pow(2),
        explained_variance: plane.explained,
        targets: wanted.len(),
        targets_matched: wanted.intersection(&different).count(),
        sets: coverages,
    };
    let names = sets.iter().chain(targets).map(|points| points.name.clone()).collect();
    Ok(Projection { report, names, places })
}

impl Projection {
    /// Its figures.
    #[must_use]
    pub fn report(&self) -> &ProjectReport {
        &self.report
    }

    /// Where the vectors lie on the map: of each set in order, and of the targets last.
    #[must_use]
    pub fn places(&self) -> &[Vec<[f64; 2]>] {
        &self.places
    }

    /// Draw the map: SVG if `path` ends so, else PNG. The font is built in.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn draw(&self, path: &Path) -> Result<(), Error> {
        plot::draw(self, path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::space;

    fn points(name: &str, vectors: Vec<Vec<f64>>) -> Points {
        Points { name: name.into(), vectors, without: 0 }
    }

    #[test]
    fn a_set_that_holds_the_targets_matches_them_all() {
        let ast = space("ast-depth").expect("it is registered");
        let square =
            vec![vec![0.0, 0.0], vec![2.0, 0.0], vec![0.0, 2.0], vec![2.0, 2.0], vec![2.0, 2.0]];
        let sets = [points("whole", square.clone()), points("corner", vec![vec![0.0, 0.0]])];
        let wanted = points("targets", square);
        let projection = project(ast, &sets, Some(&wanted), 4).expect("the vectors are sound");
        let report = projection.report();
        assert_eq!((report.vectors, report.distinct, report.targets), (6, 4, 4));
        assert_eq!((report.sets[0].targets_matched, report.sets[0].vectors_on_targets), (4, 5));
        assert_eq!((report.sets[1].targets_matched, report.sets[1].cells), (1, 1));
        assert!(report.sets[0].hull_area > 0.0 && report.sets[1].hull_area == 0.0);
        let counts: Vec<usize> = projection.places().iter().map(Vec::len).collect();
        assert_eq!(counts, [5, 1, 5], "the targets last");
        assert_eq!(projection.places()[0], projection.places()[2]);
        let explained: f64 = report.explained_variance.iter().sum();
        assert!((explained - 1.0).abs() < 1e-9, "two dimensions have two components: {explained}");
    }

    #[test]
    fn equal_vectors_have_one_place_and_explain_nothing() {
        let ast = space("ast-depth").expect("it is registered");
        let sets = [points("same", vec![vec![3.0, 9.0]; 5])];
        let projection = project(ast, &sets, None, CELLS).expect("the vectors are sound");
        assert_eq!(projection.report().explained_variance, [0.0, 0.0]);
        assert_eq!((projection.report().cells, projection.report().distinct), (1, 1));
        assert_eq!(projection.places(), [[[0.0; 2]; 5]]);
    }

    #[test]
    fn vectors_of_another_space_and_broken_numbers_are_errors_with_names() {
        let ast = space("ast-depth").expect("it is registered");
        let mixed = [points("mixed", vec![vec![1.0, 2.0], vec![1.0; 70]])];
        let error = project(ast, &mixed, None, CELLS).err().map(|error| error.to_string());
        assert!(error.is_some_and(|text| text.contains("mixed") && text.contains("70")));
        let broken = [points("broken", vec![vec![1.0, f64::NAN], vec![1.0, 1.0]])];
        let error = project(ast, &broken, None, CELLS).err().map(|error| error.to_string());
        assert!(error.is_some_and(|text| text.contains("broken") && text.contains("nodes")));
        let few = [points("few", vec![vec![1.0, 1.0]])];
        assert!(matches!(project(ast, &few, None, CELLS), Err(Error::TooFew(1))));
    }

    #[test]
    fn maps_are_drawn_as_svg_and_png_without_fonts_of_the_system() {
        let ast = space("ast-depth").expect("it is registered");
        let line = (0..50).map(|i| vec![f64::from(i), f64::from(i * i)]).collect();
        let sets = [points("line", line)];
        let projection = project(ast, &sets, None, CELLS).expect("the vectors are sound");
        let folder = tempfile::tempdir().expect("there is room");
        let (svg, png) = (folder.path().join("map.svg"), folder.path().join("map.png"));
        projection.draw(&svg).expect("it is drawn");
        projection.draw(&png).expect("it is drawn");
        let text = std::fs::read_to_string(&svg).expect("it was written");
        assert!(text.starts_with("<svg") && text.contains("line (50)"));
        assert!(text.contains("first component, 9"), "shares are in percent");
        // A dot for each vector and one in the legend.
        assert_eq!(text.matches("<circle").count(), 51);
        let picture = std::fs::read(&png).expect("it was written");
        assert!(picture.starts_with(b"\x89PNG"));
    }
}

use crate::{Error, Extractor, FeatureSpace, Row, Vector};
use dataset::{Dataset, Programs, Progress};
use serde_json::Value;
use std::path::Path;

/// Vectors of one space under one name.
#[derive(Clone, Debug, PartialEq)]
pub struct Points {
    /// How the legend and the report call them.
    pub name: String,
    /// The vectors.
    pub vectors: Vec<Vector>,
    /// Programs or lines without a vector in the space.
    pub without: usize,
}

impl Points {
    /// Read vectors of `space` from wherever they are: a data set of schema `features`, a file of
    /// JSON lines with a key of the space's name (targets) or with its dimensions as keys, or
    /// programs, which `extractor` then describes.
    ///
    /// # Errors
    /// When there is not a single vector of the space, or something cannot be read.
    pub fn load(
        name: &str,
        path: &Path,
        space: &'static dyn FeatureSpace,
        extractor: &Extractor,
        progress: &dyn Progress,
    ) -> Result<Points, Error> {
        let mut points = Points { name: name.to_owned(), vectors: Vec::new(), without: 0 };
        if path.extension().is_some_and(|extension| extension == "jsonl") {
            points.read_lines(path, space)?;
        } else if Dataset::is_at(path) && Dataset::open(path)?.manifest().schema == SCHEMA {
            for row in Dataset::open(path)?.rows::<Row>()? {
                points.add(row?.vectors.remove(space.name()));
            }
        } else {
            extractor.describe_all(&Programs::open(path)?, progress, |rows| {
                for mut row in rows {
                    points.add(row.vectors.remove(space.name()));
                }
                Ok(())
            })?;
        }
        if points.vectors.is_empty() {
            return Err(Error::NoVectors { path: path.to_owned(), space: space.name().to_owned() });
        }
        Ok(points)
    }

    fn add(&mut self, vector: Option<Vector>) {
        match vector {
            Some(vector) => self.vectors.push(vector),
            None => self.without += 1,
        }
    }

    fn read_lines(&mut self, path: &Path, space: &dyn FeatureSpace) -> Result<(), Error> {
        let text = std::fs::read_to_string(path).map_err(|source| Error::File {
            action: "read",
            path: path.to_owned(),
            source,
        })?;
        for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let failed =
                |reason: String| Error::Points { path: path.to_owned(), line: index + 1, reason };
            let object: Value =
                serde_json::from_str(line).map_err(|error| failed(error.to_string()))?;
            self.add(vector_of(&object, space).map_err(failed)?);
        }
        Ok(())
    }

    pub(super) fn check(&self, space: &dyn FeatureSpace) -> Result<(), Error> {
        let dimensions = space.dimensions();
        for vector in &self.vectors {
            if vector.len() != dimensions.len() {
                return Err(Error::Dimensions {
                    from: self.name.clone(),
                    space: space.name().to_owned(),
                    found: vector.len(),
                    wanted: dimensions.len(),
                });
            }
            if let Some(place) = vector.iter().position(|value| !value.is_finite()) {
                return Err(Error::NotFinite {
                    from: self.name.clone(),
                    space: space.name().to_owned(),
                    dimension: dimensions[place].to_owned(),
                });
            }
        }
        Ok(())
    }
}

const SCHEMA: &str = <Row as dataset::Row>::SCHEMA;

fn vector_of(object: &Value, space: &dyn FeatureSpace) -> Result<Option<Vector>, String> {
    let dimensions = space.dimensions();
    let number = |value: &Value| value.as_f64().ok_or_else(|| format!("`{value}` is no number"));
    match object.get(space.name()).unwrap_or(object) {
        Value::Array(values) if values.len() == dimensions.len() => {
            values.iter().map(number).collect::<Result<Vector, _>>().map(Some)
        }
        Value::Array(values) => Err(format!(
            "{} values where `{}` has {} dimensions",
            values.len(),
            space.name(),
            dimensions.len()
        )),
        Value::Object(named) => {
            let values: Option<Vec<&Value>> =
                dimensions.iter().map(|dimension| named.get(*dimension)).collect();
            values
                .map(|values| values.into_iter().map(number).collect::<Result<Vector, _>>())
                .transpose()
        }
        _ => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Options, space::space};

    fn load(text: &str) -> Result<Points, Error> {
        let folder = tempfile::tempdir().expect("there is room");
        let path = folder.path().join("points.jsonl");
        std::fs::write(&path, text).expect("it can be written");
        let ast = space("ast-depth").expect("it is registered");
        let extractor = Extractor::new(vec![ast], Options::default());
        Points::load("points", &path, ast, &extractor, &dataset::Silent)
    }

    #[test]
    fn lines_hold_lists_named_values_or_the_dimensions_themselves() {
        let text = "{\"target\":\"t\",\"ast-depth\":[1,2]}\n{\"ast-depth\":{\"depth\":3,\"nodes\":4}}\n\n\
                    {\"depth\":5,\"nodes\":6}\n{\"grewe\":[1]}\n";
        let points = load(text).expect("the lines are sound");
        assert_eq!(points.vectors, [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]);
        assert_eq!(points.without, 1);
    }

    #[test]
    fn broken_lines_are_errors_that_name_the_line() {
        let error = load("{\"ast-depth\":[1,2]}\n{\"ast-depth\":[1]}").err();
        assert!(matches!(error, Some(Error::Points { line: 2, .. })), "{error:?}");
        let error = load("nonsense").err();
        assert!(matches!(error, Some(Error::Points { line: 1, .. })), "{error:?}");
        assert!(matches!(load("{\"grewe\":[1]}"), Err(Error::NoVectors { .. })));
    }
}

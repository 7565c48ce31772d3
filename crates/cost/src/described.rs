//! The vectors that are put beside labels.

use crate::Result;
use dataset::{Dataset, Input, Row as _, Verdict};
use rows::FeaturesHead;
use serde_json::{Value, json};
use std::{collections::HashMap, path::Path};

/// What the column `detail` of a row with a label begins with that has no vectors.
pub(crate) const NO_VECTORS: &str = "no vectors: ";

/// Vectors of programs, from a data set of schema `features`.
pub(crate) struct Described {
    /// A program's vectors by its identity, or why it has none: a program with several kernels has no single vector.
    vectors: HashMap<String, std::result::Result<features::Row, String>>,
    /// Names of the dimensions of the spaces that there are vectors of.
    pub(crate) spaces: Value,
    /// The level that they were counted at.
    pub(crate) level: Value,
    /// The data set; `None`: no vectors were asked for.
    pub(crate) input: Option<Input>,
}

impl Default for Described {
    fn default() -> Described {
        Described { vectors: HashMap::new(), spaces: json!({}), level: Value::Null, input: None }
    }
}

impl Described {
    pub(crate) fn read(path: &Path) -> Result<Described> {
        let dataset = Dataset::open(path)?;
        dataset.require(FeaturesHead::SCHEMA, FeaturesHead::VERSION)?;
        let manifest = dataset.manifest();
        let (name, hash) = (path.display().to_string(), manifest.identity.clone());
        let mut vectors = HashMap::new();
        for row in dataset.rows::<features::Row>()? {
            let row = row?;
            let id = row.id.clone();
            let described = match row.is_accepted() {
                true => Ok(row),
                false => Err(row.verdict.to_string()),
            };
            match vectors.get_mut(&id) {
                // Rows of one program differ where a space tells functions apart.
                Some(Ok(other)) => {
                    let other: &features::Row = other;
                    if described.is_ok_and(|row| row.vectors != other.vectors) {
                        vectors.insert(id, Err("several-vectors".to_owned()));
                    }
                }
                Some(Err(_)) => {}
                None => drop(vectors.insert(id, described)),
            }
        }
        Ok(Described {
            vectors,
            spaces: manifest.notes.configuration["spaces"].clone(),
            level: manifest.notes.configuration["level"].clone(),
            input: Some(Input { name, hash }),
        })
    }

    /// The vectors of a program; none where it has none.
    pub(crate) fn of(&self, id: &str) -> features::Row {
        self.vectors.get(id).and_then(|found| found.as_ref().ok()).cloned().unwrap_or_default()
    }

    /// The verdict on a label. A label is a label; what is missing beside it is said.
    pub(crate) fn verdict(&self, id: &str) -> Verdict {
        let without =
            |why: &str| Verdict { detail: format!("{NO_VECTORS}{why}"), ..Verdict::accepted() };
        match self.vectors.get(id) {
            _ if self.input.is_none() => Verdict::accepted(),
            Some(Ok(_)) => Verdict::accepted(),
            Some(Err(why)) => without(why),
            None => without("not-in-vectors"),
        }
    }
}

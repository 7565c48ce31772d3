//! A discriminator of kernels: how likely it is that a person wrote one, by its shape. A logistic regression on [`shape`],
//! which `scripts/train_discriminator.py` trains and writes beside a checkpoint.

mod shape;

use crate::{Error, program::as_mined};
use serde::Deserialize;
use std::{
    fs,
    io::ErrorKind,
    path::{Path, PathBuf},
};

/// Its name in the folder of a checkpoint.
const FILE: &str = "discriminator.json";
/// Standard deviations from the mean beyond which a measure counts no further.
const FARTHEST: f64 = 3.0;
/// How far what it says of its own examples may be from what it said in training.
const NEAR: f64 = 1e-6;

/// Tells kernels that people wrote from kernels that were made.
#[derive(Clone, Debug)]
pub(super) struct Discriminator {
    identity: String,
    model: Model,
}

/// What is in the file.
#[derive(Clone, Debug, Deserialize)]
struct Model {
    bias: f64,
    /// In the order of [`shape::NAMES`].
    features: Vec<Feature>,
    /// Kernels, and what was said of them in training: both sides measure alike.
    examples: Vec<Example>,
}

/// A measure of shape, and what a standard deviation more of it adds to the log-odds that a kernel was made.
#[derive(Clone, Debug, Deserialize)]
struct Feature {
    name: String,
    mean: f64,
    scale: f64,
    weight: f64,
}

#[derive(Clone, Debug, Deserialize)]
struct Example {
    text: String,
    human: f64,
}

impl Discriminator {
    /// That of the checkpoint in `folder`, where it has one.
    ///
    /// # Errors
    /// When the file cannot be read, or is of another version.
    pub(super) fn beside(folder: &Path) -> Result<Option<Discriminator>, Error> {
        let path = folder.join(FILE);
        match fs::read_to_string(&path) {
            Ok(text) => Discriminator::parse(&text, &path).map(Some),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Error::Read { path, reason: error.to_string() }),
        }
    }

    fn parse(text: &str, path: &Path) -> Result<Discriminator, Error> {
        let wrong = |reason: String| Error::Read {
            path: PathBuf::from(path),
            reason: format!("{reason}; `scripts/train_discriminator.py` makes it anew"),
        };
        let model: Model = serde_json::from_str(text).map_err(|error| wrong(error.to_string()))?;
        let names = model.features.iter().map(|feature| feature.name.as_str());
        if !names.eq(shape::NAMES) {
            return Err(wrong("it has not the features of this version".to_owned()));
        }
        let numbers = model.features.iter().flat_map(|one| [one.mean, one.scale, one.weight]);
        let is_scaled = model.features.iter().all(|one| one.scale > 0.0);
        if !is_scaled || !numbers.chain([model.bias]).all(f64::is_finite) {
            return Err(wrong("it has a number that is not finite, or a scale of 0".to_owned()));
        }
        let identity = dataset::content_hash(text.as_bytes());
        let found = Discriminator { identity, model };
        for example in &found.model.examples {
            let human = found.human(&example.text);
            if (human - example.human).abs() > NEAR {
                return Err(wrong(format!(
                    "it says {human:.4} of an example of its own, and said {:.4} in training",
                    example.human
                )));
            }
        }
        Ok(found)
    }

    /// The hash of its file.
    pub(super) fn identity(&self) -> &str {
        &self.identity
    }

    /// The probability that a person wrote this, of as many kernels of people as others: above 0, and at most 1.
    pub(super) fn human(&self, text: &str) -> f64 {
        let shape = shape::shape(&as_mined(text));
        let terms = self.model.features.iter().zip(shape).map(|(feature, value)| {
            let far = (value - feature.mean) / feature.scale;
            feature.weight * far.clamp(-FARTHEST, FARTHEST)
        });
        let made = self.model.bias + terms.sum::<f64>();
        (1.0 / (1.0 + made.exp())).max(f64::MIN_POSITIVE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// One that looks at conversions alone, and says this of an example.
    fn of_casts(human: f64) -> serde_json::Value {
        let features = shape::NAMES.map(|name| {
            let weight = if name == "casts" { 2.0 } else { 0.0 };
            json!({ "name": name, "mean": 0.0, "scale": 0.5, "weight": weight })
        });
        let features = features.to_vec();
        let example = json!({ "text": "__kernel void A(int a) { a = (int)a; }", "human": human });
        json!({ "bias": -1.0, "features": features, "examples": [example] })
    }

    fn parse(value: &serde_json::Value) -> Result<Discriminator, Error> {
        Discriminator::parse(&value.to_string(), Path::new(FILE))
    }

    #[test]
    fn what_counts_against_a_kernel_lowers_the_probability_that_a_person_wrote_it() {
        // One conversion in one statement: 1 / 0.5 standard deviations, of weight 2, less the bias.
        let human = 1.0 / (1.0 + 3.0_f64.exp());
        let discriminator = parse(&of_casts(human)).unwrap_or_else(|error| panic!("{error}"));
        let cast = discriminator.human("__kernel void A(int p7) { p7 = (int)p7; }");
        assert!((cast - human).abs() < 1e-12, "{cast}");
        let plain = discriminator.human("__kernel void A(int p7) { p7 = p7; }");
        assert!((plain - 1.0 / (1.0 + (-1.0_f64).exp())).abs() < 1e-12, "{plain}");
        let far = discriminator.human("__kernel void A(int a) { a = (int)(int)(int)(int)a; }");
        assert!((far - 1.0 / (1.0 + 5.0_f64.exp())).abs() < 1e-12, "{far}");
    }

    #[test]
    fn one_that_measures_otherwise_is_refused() {
        let said = |value: &serde_json::Value| match parse(value) {
            Ok(_) => panic!("it was taken"),
            Err(error) => error.to_string(),
        };
        assert!(said(&of_casts(0.5)).contains("example of its own"));
        let mut other = of_casts(0.5);
        other["features"][0]["name"] = json!("other");
        assert!(said(&other).contains("features of this version"));
        let mut flat = of_casts(0.5);
        flat["features"][0]["scale"] = json!(0.0);
        assert!(said(&flat).contains("scale of 0"));
        assert!(said(&json!({})).contains("train_discriminator.py"));
    }

    #[test]
    fn a_checkpoint_may_have_none() {
        let folder = tempfile::tempdir().expect("a folder");
        let beside = || Discriminator::beside(folder.path());
        assert!(beside().expect("nothing is wrong").is_none());
        fs::write(folder.path().join(FILE), "{").expect("it can be written");
        assert!(beside().is_err());
    }
}

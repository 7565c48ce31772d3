//! Points of a feature space that kernels are wanted at.

use crate::{Error, judge::LEVEL};
use features::FeatureSpace;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The greatest weight: squared distances stay numbers with it.
const HEAVIEST: f64 = 1e12;

/// The key of a line that says the level of its vector.
const OPT: &str = "opt";

/// Dimensions that a message names.
const MISSES: usize = 8;

/// Numbers from this one on, and such small ones, have an exponent in messages.
const LONG: f64 = 1e15;

/// A number as messages have it: not hundreds of digits.
pub(crate) fn number(value: f64) -> String {
    let size = value.abs();
    if size == 0.0 || (1.0 / LONG..LONG).contains(&size) {
        value.to_string()
    } else {
        format!("{value:e}")
    }
}

/// What is wanted of one dimension.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Constraint {
    /// The least value that is right.
    pub least: f64,
    /// The greatest value that is right.
    pub most: f64,
    /// How much a difference in this dimension counts, 1 unless given.
    pub weight: f64,
}

impl Constraint {
    /// Exactly this value.
    #[must_use]
    pub fn exactly(value: f64) -> Constraint {
        Constraint { least: value, most: value, weight: 1.0 }
    }

    /// Read the constraint of the dimension `name`: a value, a range `10..14`, either with a weight behind `*`.
    fn parse(name: &str, constraint: &str) -> Result<Constraint, String> {
        let (range, weight) = constraint.split_once('*').unwrap_or((constraint, "1"));
        let (least, most) = range.split_once("..").unwrap_or((range, range));
        let read =
            |text: &str| text.trim().parse::<f64>().map_err(|_| format!("'{text}' is no number"));
        let (least, most, weight) = (read(least)?, read(most)?, read(weight)?);
        if least.is_nan() || most.is_nan() {
            return Err(format!("{name}={range} is no value"));
        }
        if least > most {
            return Err(format!("{name}={}..{} is an empty range", number(least), number(most)));
        }
        if weight.is_nan() || weight <= 0.0 || weight > HEAVIEST {
            return Err(format!(
                "a weight of {} for {name}: weights are above 0, and {HEAVIEST} at most",
                number(weight)
            ));
        }
        Ok(Constraint { least, most, weight })
    }

    /// The value that is right, or the range of them, in a message.
    pub(crate) fn values(&self) -> String {
        match self.least == self.most {
            true => number(self.least),
            false => format!("{}..{}", number(self.least), number(self.most)),
        }
    }

    /// How much a value is above (positive) or below (negative) what is wanted.
    #[must_use]
    pub fn excess(&self, value: f64) -> f64 {
        if value < self.least {
            value - self.least
        } else if value > self.most {
            value - self.most
        } else {
            0.0
        }
    }
}

/// A point, or a box, of a feature space; dimensions without a constraint are free.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Target {
    /// Its name in files and data sets.
    pub name: String,
    /// What is wanted of each dimension, in the space's order.
    pub constraints: Vec<Option<Constraint>>,
    /// The program whose vector it is, where it is one's: it gives the answer away.
    pub program: Option<String>,
}

impl Target {
    /// A whole point.
    #[must_use]
    pub fn point(name: impl Into<String>, vector: &[f64]) -> Target {
        let constraints = vector.iter().map(|value| Some(Constraint::exactly(*value))).collect();
        Target { name: name.into(), constraints, program: None }
    }

    /// What of a vector is not as wanted, the worst first: `Load 2 for 3`. Empty where all is.
    #[must_use]
    pub fn missed(&self, vector: &[f64], dimensions: &[&str]) -> String {
        let mut off: Vec<(f64, String)> = Vec::new();
        for ((constraint, value), name) in self.constraints.iter().zip(vector).zip(dimensions) {
            let Some(wanted) = constraint else { continue };
            let excess = wanted.excess(*value);
            if excess != 0.0 {
                let weight = excess.abs() * wanted.weight;
                let said = format!("{name} {} for {}", number(*value), wanted.values());
                off.push((weight, said));
            }
        }
        off.sort_by(|a, b| b.0.total_cmp(&a.0));
        let more = off.len().saturating_sub(MISSES);
        let mut said: Vec<String> = off.into_iter().take(MISSES).map(|(_, said)| said).collect();
        if more > 0 {
            said.push(format!("{more} more dimensions"));
        }
        said.join(", ")
    }

    /// Read constraints as a person writes them: `Load=12,FMul=8`, ranges as `Load=10..14`, weights as
    /// `Load=12*3`. Dimensions not named are free.
    ///
    /// # Errors
    /// [`Error::Target`] naming the part that cannot be read or the dimension that there is not.
    pub fn parse(text: &str, space: &dyn FeatureSpace) -> Result<Target, Error> {
        let dimensions = space.dimensions();
        let mut constraints = vec![None; dimensions.len()];
        let wrong = |reason: String| Error::Target { name: text.to_owned(), reason };
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let (name, constraint) = part.split_once('=').ok_or_else(|| {
                wrong(format!(
                    "'{part}' is no constraint: write DIMENSION=VALUE, for example Load=12"
                ))
            })?;
            let name = name.trim();
            let index = place(name, space).map_err(wrong)?;
            if constraints[index].is_some() {
                return Err(wrong(format!("{name} is constrained twice")));
            }
            constraints[index] = Some(Constraint::parse(name, constraint).map_err(wrong)?);
        }
        if constraints.iter().all(Option::is_none) {
            return Err(wrong(
                "no constraint in it: write DIMENSION=VALUE, for example Load=12".into(),
            ));
        }
        Ok(Target { name: text.to_owned(), constraints, program: None })
    }

    /// A target from JSON: a list in the space's order, an object by dimension (of numbers, or of
    /// constraints as strings), or an object that holds one of these under the space's name (as lines of
    /// target files do, with `target`). A line may say the level that its vector was counted at (`"opt": 1`).
    ///
    /// # Errors
    /// [`Error::Target`] where it is none of these, or of another level than kernels are counted at here.
    pub fn from_json(name: &str, value: &Value, space: &dyn FeatureSpace) -> Result<Target, Error> {
        let name = value.get("target").and_then(Value::as_str).unwrap_or(name);
        let wrong = |reason: String| Error::Target { name: name.to_owned(), reason };
        let level = value.get(OPT).and_then(Value::as_u64);
        if let Some(level) = level.filter(|level| *level != u64::from(LEVEL)) {
            let space = space.name();
            return Err(wrong(format!(
                "its vector is of code at -O{level}, and kernels are counted at -O{LEVEL} here: `stampmill features \
                 PROGRAMS --space {space}` counts so (and `heuristic diagnose --vectors` writes what it counted)"
            )));
        }
        if space.joined().iter().any(|one| value.get(one.name()).is_some()) {
            return Target::from_several(name, value, space);
        }
        let vector = value.get(space.name()).unwrap_or(value);
        let dimensions = space.dimensions();
        match vector {
            Value::Array(list) if list.len() == dimensions.len() => {
                let values: Option<Vec<f64>> = list.iter().map(Value::as_f64).collect();
                let values = values.ok_or_else(|| wrong("a value that is no number".into()))?;
                Ok(Target::point(name, &values))
            }
            Value::Array(list) => Err(wrong(format!(
                "{} values, {} has {} dimensions",
                list.len(),
                space.name(),
                dimensions.len()
            ))),
            Value::Object(object) => {
                let mut constraints = vec![None; dimensions.len()];
                let mut unknown = None;
                for (name, value) in object {
                    match place(name, space) {
                        Ok(index) => {
                            let constraint = match value {
                                Value::String(constraint) => constraint.clone(),
                                other => other.to_string(),
                            };
                            constraints[index] =
                                Some(Constraint::parse(name, &constraint).map_err(wrong)?);
                        }
                        Err(_) if name == "target" || name == OPT => {}
                        Err(reason) => unknown = Some(reason),
                    }
                }
                let named =
                    constraints.iter().any(Option::is_some) || value.get(space.name()).is_some();
                if let Some(reason) = unknown.filter(|_| named) {
                    return Err(wrong(reason));
                }
                if constraints.iter().all(Option::is_none) {
                    return Err(wrong(format!("no vector of {} in it", space.name())));
                }
                Ok(Target { name: name.to_owned(), constraints, program: None })
            }
            _ => Err(wrong(format!("no vector of {} in it", space.name()))),
        }
    }

    /// A line that has a vector, or constraints, of some of the spaces that are joined, each under its name; the
    /// dimensions of others are free.
    fn from_several(name: &str, value: &Value, space: &dyn FeatureSpace) -> Result<Target, Error> {
        let mut constraints = Vec::new();
        for one in space.joined() {
            constraints.extend(match value.get(one.name()) {
                Some(_) => Target::from_json(name, value, *one)?.constraints,
                None => vec![None; one.dimensions().len()],
            });
        }
        Ok(Target { name: name.to_owned(), constraints, program: None })
    }

    /// Euclidean distance from `vector` to the nearest point that is right, in plain units.
    #[must_use]
    pub fn distance(&self, vector: &[f64]) -> f64 {
        let squares = self.constraints.iter().zip(vector).filter_map(|(constraint, value)| {
            constraint.map(|constraint| constraint.excess(*value).powi(2))
        });
        squares.sum::<f64>().sqrt()
    }

    /// Euclidean norm of the wanted values.
    #[must_use]
    pub fn norm(&self) -> f64 {
        let constraints = self.constraints.iter().flatten();
        constraints.map(|one| one.most.abs().max(one.least.abs()).powi(2)).sum::<f64>().sqrt()
    }

    /// How near `vector` is: 1 − distance / norm of the target; 1 is a hit, 0 as far as nothing.
    #[must_use]
    pub fn proximity(&self, vector: &[f64]) -> f64 {
        let norm = self.norm();
        let distance = self.distance(vector);
        if distance == 0.0 {
            1.0
        } else if norm == 0.0 {
            0.0
        } else {
            1.0 - distance / norm
        }
    }
}

/// The dimension of this name: of joined spaces with the space's name before it, where several have one of that name.
fn place(name: &str, space: &dyn FeatureSpace) -> Result<usize, String> {
    let dimensions = space.dimensions();
    if let Some(at) = dimensions.iter().position(|known| known.eq_ignore_ascii_case(name)) {
        return Ok(at);
    }
    let short =
        |known: &str| known.split_once('.').is_some_and(|(_, own)| own.eq_ignore_ascii_case(name));
    let found: Vec<usize> = match space.joined() {
        [] => Vec::new(),
        _ => (0..dimensions.len()).filter(|at| short(dimensions[*at])).collect(),
    };
    match found[..] {
        [] => Err(no_dimension(name, space)),
        [at] => Ok(at),
        [..] => {
            let names: Vec<&str> = found.iter().map(|at| dimensions[*at]).collect();
            Err(format!("several spaces have '{name}': write {}", names.join(" or ")))
        }
    }
}

/// That a space has no such dimension, what may have been meant, and what there is.
fn no_dimension(name: &str, space: &dyn FeatureSpace) -> String {
    let dimensions = space.dimensions();
    let has = |other: &&&dyn FeatureSpace| {
        other.dimensions().iter().any(|known| known.eq_ignore_ascii_case(name))
    };
    let others: Vec<&str> = features::ALL.iter().filter(has).map(|other| other.name()).collect();
    if let ([first, ..], []) = (others.as_slice(), space.joined()) {
        let (others, own) = (others.join(", "), space.name());
        return format!(
            "{name} is a dimension of {others}, not of {own}: `--space {first}`, or `--space {own},{first}` for both"
        );
    }
    let meant = dataset::near(name, dimensions.iter().copied());
    let meant = meant.map(|meant| format!("did you mean {meant}? ")).unwrap_or_default();
    format!("no dimension '{name}' in {}: {meant}there are {}", space.name(), dimensions.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn instcount() -> &'static dyn FeatureSpace {
        features::space("instcount").expect("registered")
    }

    #[test]
    fn a_partial_wish_leaves_the_other_dimensions_free() {
        let target = Target::parse("Load=12, fmul=8..10*2", instcount()).expect("well-formed");
        assert_eq!(target.constraints.iter().flatten().count(), 2);
        let names = instcount().dimensions();
        let mut vector = vec![99.0; names.len()];
        for (index, name) in names.iter().enumerate() {
            match *name {
                "Load" => vector[index] = 12.0,
                "FMul" => vector[index] = 9.0,
                _ => {}
            }
        }
        assert_eq!(target.distance(&vector), 0.0);
        assert_eq!(target.proximity(&vector), 1.0);
    }

    #[test]
    fn joined_spaces_have_all_dimensions() {
        let space = features::joint("instcount,autophase").expect("registered");
        let target =
            Target::parse("Load=3,instcount.TotalInsts=20..24", space).expect("well-formed");
        let set: Vec<usize> = (0..126).filter(|at| target.constraints[*at].is_some()).collect();
        let dimensions = space.dimensions();
        let names: Vec<&str> = set.iter().map(|at| dimensions[*at]).collect();
        assert_eq!(names, ["instcount.TotalInsts", "instcount.Load"]);
        let error = Target::parse("TotalInsts=3", space).expect_err("of both").to_string();
        assert!(error.contains("write instcount.TotalInsts or autophase.TotalInsts"), "{error}");
        let line = serde_json::json!({"target": "t", "autophase": vec![2; 56], "instcount": {"Load": "1..3"}});
        let target = Target::from_json("x", &line, space).expect("well-formed");
        let constraints = target.constraints.iter().flatten();
        assert_eq!((target.name.as_str(), constraints.count()), ("t", 57));
        let line = serde_json::json!({"target": "t", "autophase": [1]});
        let error = Target::from_json("x", &line, space).expect_err("short").to_string();
        assert!(error.contains("autophase has 56"), "{error}");
        let error = Target::from_json("x", &serde_json::json!({"target": "t"}), space);
        assert!(error.is_err());
    }

    #[test]
    fn numbers_of_many_digits_are_short_in_messages() {
        let said = [0.0, 12.0, -1.5, 0.333, 999_999_999_999_999.0].map(number);
        assert_eq!(said, ["0", "12", "-1.5", "0.333", "999999999999999"]);
        let said = [1e15, -2.5e300, 1e-300, f64::INFINITY].map(number);
        assert_eq!(said, ["1e15", "-2.5e300", "1e-300", "inf"]);
        let target = Target::parse("Load=1e300,FMul=3..2e20", instcount()).expect("well-formed");
        let nothing = vec![0.0; instcount().dimensions().len()];
        let missed = target.missed(&nothing, &instcount().dimensions());
        assert_eq!(missed, "Load 0 for 1e300, FMul 0 for 3..2e20");
        let error = Target::parse("Load=1e300..1e200", instcount()).expect_err("empty").to_string();
        assert!(error.contains("Load=1e300..1e200 is an empty range"), "{error}");
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        for (text, part) in [
            ("Lode=1", "Lode"),
            ("Load", "no constraint"),
            ("Load=x", "no number"),
            ("Load=5..2", "empty range"),
            ("Load=1*0", "weight"),
            ("Load=1*inf", "weight"),
            ("Load=nan", "no value"),
            (
                "comp=3",
                "comp is a dimension of grewe, grewe-fixed, not of instcount: `--space grewe`",
            ),
            ("Load=1,load=2", "twice"),
            ("", "no constraint"),
        ] {
            let error = Target::parse(text, instcount()).expect_err(text).to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn lines_of_target_files_hold_several_spaces() {
        let line = serde_json::json!({"target": "a:k", "autophase": vec![1; 56], "instcount": vec![2; 70]});
        let target = Target::from_json("line 1", &line, instcount()).expect("well-formed");
        assert_eq!(
            (target.name.as_str(), target.constraints[0]),
            ("a:k", Some(Constraint::exactly(2.0)))
        );
        let constraints = serde_json::json!({"instcount": {"Load": "1..3*2", "FMul": 4}});
        let target = Target::from_json("x", &constraints, instcount()).expect("well-formed");
        assert_eq!(
            target.constraints,
            Target::parse("Load=1..3*2,FMul=4", instcount()).expect("so").constraints
        );
        for (wrong, part) in [
            (serde_json::json!({"instcount": {"Lode": 1}}), "no dimension 'Lode'"),
            (serde_json::json!({"Load": 1, "Lode": 1}), "no dimension 'Lode'"),
            (serde_json::json!({"Load": null}), "no number"),
            (serde_json::json!({"grewe": [1]}), "no vector of instcount"),
        ] {
            let error = Target::from_json("x", &wrong, instcount()).expect_err("wrong").to_string();
            assert!(error.contains(part), "{error}");
        }
        let level = |opt: u8| serde_json::json!({"instcount": vec![2; 70], "opt": opt});
        assert!(Target::from_json("x", &level(1), instcount()).is_ok());
        let error = Target::from_json("x", &level(0), instcount()).expect_err("wrong").to_string();
        assert!(error.contains("-O0") && error.contains("features PROGRAMS"), "{error}");
        let short = serde_json::json!([1, 2]);
        assert!(Target::from_json("x", &short, instcount()).is_err());
    }
}

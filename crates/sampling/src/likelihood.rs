//! How likely kernels are to a model: samples under a limit, and kernels of a data set by their packages.

use crate::Result;
use dataset::Progress;
use lm::{Bits, Checkpoint, Entry, Seen};
use rayon::prelude::*;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// How many bits a token a kernel takes, where these are more than `most`, or that nothing is known of it; `None` of one
/// that is likely enough.
pub(crate) fn unlikely(checkpoint: &Checkpoint, text: &str, most: f64) -> Result<Option<String>> {
    Ok(match checkpoint.bits(text)? {
        Some(bits) if bits.per_token() <= most => None,
        Some(bits) => Some(format!("{:.2} bits a token", bits.per_token())),
        None => Some("longer than the model reads".to_owned()),
    })
}

/// How likely kernels are to a model: the fewer bits they take, the more it expects them.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Likelihood {
    /// Kind of the model.
    pub model: String,
    /// All kernels.
    pub all: Total,
    /// Those of packages that the model was not trained on.
    pub held_back: Total,
    /// By package, in the order of their names.
    pub packages: Vec<PackageLikelihood>,
    /// Each kernel, in the order of the data set.
    pub programs: Vec<ProgramLikelihood>,
}

/// Kernels together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Total {
    /// Kernels that were measured.
    pub kernels: u64,
    /// Kernels that are longer than the model reads: these are not measured.
    pub too_long: u64,
    /// Tokens of those that were measured, their ends included.
    pub tokens: u64,
    /// Their bits by their tokens, so that a long kernel counts as much as it is long; `None` where there is none.
    pub bits_per_token: Option<f64>,
    /// The bits a token that the model promises, by its own probabilities: the less these differ from what kernels take, the
    /// better it is calibrated; `None` where there is none.
    pub expected_per_token: Option<f64>,
}

/// The kernels of a package.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PackageLikelihood {
    /// Its name; may be empty.
    pub package: String,
    /// Whether the model was trained on none of its kernels; `None` where the checkpoint does not say what it was trained on.
    pub held_back: Option<bool>,
    /// How likely they are.
    #[serde(flatten)]
    pub total: Total,
}

/// One kernel.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ProgramLikelihood {
    /// The id of its row, or its path.
    pub id: String,
    /// Its package; may be empty.
    pub package: String,
    /// Its bits; `None` where it is longer than the model reads.
    pub bits: Option<f64>,
    /// Its tokens, its end included.
    pub tokens: Option<u64>,
}

/// How likely these kernels are to a model.
///
/// # Errors
/// When the model is of kind `hole`, which gives no text a probability, or what it learned from cannot be read.
pub fn likelihood(
    checkpoint: &Checkpoint,
    entries: &[Entry],
    progress: &dyn Progress,
) -> Result<Likelihood> {
    let seen = Seen::read(checkpoint.folder())?;
    let listed = lm::held_back(checkpoint.folder())?;
    progress.begin("measuring", entries.len() as u64);
    let measured = entries.par_iter().map(|entry| -> Result<(Option<Bits>, bool)> {
        let bits = checkpoint.bits(&entry.text)?;
        progress.advance(1);
        Ok((bits, seen.holds(&entry.text)))
    });
    let measured = measured.collect::<Result<Vec<_>>>()?;
    let mut known: BTreeSet<&str> = BTreeSet::new();
    let (mut all, mut sums) = (Sum::default(), BTreeMap::<&str, Sum>::new());
    for (entry, (bits, is_seen)) in entries.iter().zip(&measured) {
        all.add(*bits);
        sums.entry(&entry.package).or_default().add(*bits);
        if *is_seen {
            known.insert(&entry.package);
        }
    }
    let is_held_back = |package: &str| {
        (!seen.is_empty()).then(|| listed.contains(package) || !known.contains(package))
    };
    let mut held_back = Sum::default();
    for (entry, (bits, _)) in entries.iter().zip(&measured) {
        if is_held_back(&entry.package) == Some(true) {
            held_back.add(*bits);
        }
    }
    let packages = sums.into_iter().map(|(package, sum)| PackageLikelihood {
        package: package.to_owned(),
        held_back: is_held_back(package),
        total: sum.total(),
    });
    let programs = entries.iter().zip(&measured).map(|(entry, (bits, _))| ProgramLikelihood {
        id: entry.id.clone(),
        package: entry.package.clone(),
        bits: bits.map(|one| one.bits),
        tokens: bits.map(|one| one.tokens as u64),
    });
    Ok(Likelihood {
        model: checkpoint.kind().name().to_owned(),
        all: all.total(),
        held_back: held_back.total(),
        packages: packages.collect(),
        programs: programs.collect(),
    })
}

#[derive(Default)]
struct Sum {
    kernels: u64,
    too_long: u64,
    tokens: u64,
    bits: f64,
    expected: f64,
}

impl Sum {
    fn add(&mut self, bits: Option<Bits>) {
        let Some(Bits { bits, expected, tokens }) = bits else {
            self.too_long += 1;
            return;
        };
        self.kernels += 1;
        self.tokens += tokens as u64;
        self.bits += bits;
        self.expected += expected;
    }

    fn total(&self) -> Total {
        let Sum { kernels, too_long, tokens, bits, expected } = *self;
        let per_token = |bits: f64| (tokens > 0).then(|| bits / tokens as f64);
        let (bits_per_token, expected_per_token) = (per_token(bits), per_token(expected));
        Total { kernels, too_long, tokens, bits_per_token, expected_per_token }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{SampleRow, Sampler, Settings, summary::is_accepted};
    use dataset::{Silent, stage::Cancel};
    use lm::{Drawing, Prompt};
    use std::path::Path;

    const USUAL: &str = "__kernel void A(__global float* a, __global float* b) {\n  int c = get_global_id(0);\n  \
                         a[c] = b[c] + 2.0f;\n}\n";
    const ODD: &str = "__kernel void A(__global float* a, __global float* b) {\n  int c = get_global_id(*b);\n  \
                       a[(int)(c - 7)] = b[a[c]];\n}\n";

    fn model() -> Checkpoint {
        Checkpoint::load(Path::new("../../models/infill")).expect("the model that ships")
    }

    #[test]
    fn a_kernel_is_likely_enough_or_it_is_said_how_unlikely_it_is() {
        let model = model();
        let of = |text: &str, most| unlikely(&model, text, most).expect("a causal model");
        assert_eq!(of(USUAL, 20.0), None);
        let said = of(ODD, 0.01).expect("more than nothing");
        assert!(said.ends_with(" bits a token"), "{said}");
        assert_eq!(of(&USUAL.repeat(200), 20.0).as_deref(), Some("longer than the model reads"));
    }

    #[test]
    fn kernels_of_a_package_are_measured_together() {
        let model = model();
        let entry = |package: &str, text: &str| Entry {
            id: package.to_owned(),
            package: package.to_owned(),
            text: text.to_owned(),
            ..Entry::default()
        };
        let entries =
            [entry("odd", ODD), entry("usual", USUAL), entry("usual", &USUAL.repeat(200))];
        let told = likelihood(&model, &entries, &Silent).expect("a causal model");
        let [odd, usual] = &told.packages[..] else { panic!("{told:?}") };
        assert_eq!((odd.package.as_str(), odd.held_back), ("odd", Some(true)));
        assert!(odd.total.bits_per_token > usual.total.bits_per_token, "{told:?}");
        assert_eq!((usual.total.kernels, usual.total.too_long), (1, 1));
        assert_eq!((told.all.kernels, told.all.too_long), (2, 1));
        assert_eq!(told.all.tokens, odd.total.tokens + usual.total.tokens);
        assert_eq!(told.programs[2].bits, None);
        assert!(
            told.all.expected_per_token.is_some_and(|bits| bits > 0.0 && bits < 11.0),
            "{told:?}"
        );
    }

    #[test]
    fn samples_of_too_many_bits_a_token_are_drawn_anew() {
        let model = model();
        let rows = |most_bits, tries| {
            let settings = Settings {
                prompt: Prompt::new(lm::START),
                drawing: Drawing { seed: 7, longest: 128, slots: 3, ..Drawing::default() },
                samples: 12,
                tries,
                device: None,
                drawn: None,
                normalise: true,
                novel: false,
                most_bits,
                must_run: false,
            };
            let sampler = Sampler::new(&model, settings, 2, &Cancel::default())
                .unwrap_or_else(|error| panic!("{error}"));
            sampler.sample(&Silent).expect("are drawn")
        };
        let per_token = |row: &SampleRow| {
            model.bits(&row.text).expect("a causal model").map_or(f64::MAX, Bits::per_token)
        };
        let as_drawn = rows(None, 8);
        let accepted = as_drawn.iter().filter(|row| is_accepted(row));
        let mut bits: Vec<f64> = accepted.map(per_token).collect();
        bits.sort_by(f64::total_cmp);
        let most = bits[bits.len() / 2];
        let (once, anew) = (rows(Some(most), 1), rows(Some(most), 20));
        let unlikely =
            |rows: &[SampleRow]| rows.iter().filter(|row| row.verdict == "unlikely").count();
        assert!(unlikely(&once) > 0 && unlikely(&anew) < unlikely(&once), "{once:?}\n{anew:?}");
        for (as_drawn, once) in as_drawn.iter().zip(&once) {
            let compiles = ["accepted", "duplicate"].contains(&as_drawn.verdict.as_str());
            assert_eq!(as_drawn.text, once.text, "one try draws the same");
            assert_eq!(once.verdict == "unlikely", compiles && per_token(once) > most, "{once:?}");
        }
        assert!(anew.iter().filter(|row| is_accepted(row)).all(|row| per_token(row) <= most));
    }
}

//! From kernels to a training folder: split, weights, tokenizer, token ids.

use crate::{
    Error, Kind, Recipe, Result,
    checkpoint::put,
    condition,
    tokenizer::{self, Characters, Special, Syntax, Tokenizer},
};
use dataset::{Signature, content_hash, families};
use nn::{Array, Numbers};
use serde::Serialize;
use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

/// A kernel to learn from.
#[derive(Clone, Debug, Default)]
pub struct Entry {
    /// Its text.
    pub text: String,
    /// Where it is from; may be empty.
    pub package: String,
    /// SPDX expression; may be empty.
    pub licence: String,
    /// Values of [`condition::FEATURES`]; those that are not there are not conditioned on.
    pub features: BTreeMap<String, f64>,
}

/// What a corpus came to.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct CorpusReport {
    /// Kernels to train on.
    pub training: usize,
    /// Kernels to validate on.
    pub validation: usize,
    /// Kernels left out because they are too long.
    pub too_long: usize,
    /// Packages.
    pub packages: usize,
    /// Families of near-duplicates.
    pub families: usize,
    /// Exponential of the entropy of the families' shares of the training draws: how many equally
    /// likely families that would be.
    pub effective_families: f64,
    /// The package with the largest share of the draws, and that share.
    pub largest_package: (String, f64),
    /// Tokens of the training kernels.
    pub training_tokens: u64,
    /// Pieces of the tokenizer.
    pub vocabulary: usize,
    /// Kernels by licence.
    pub licences: BTreeMap<String, usize>,
}

struct Split {
    /// 0 to train on, 1 to validate on.
    side: Vec<u8>,
    weight: Vec<f32>,
}

/// Write a training folder: `corpus.safetensors`, `config.json`, `training.json`, `tokenizer.json`
/// and `corpus.json` with the report.
///
/// Families of near-duplicates are never split between training and validation; validation holds
/// whole packages as well. Large families and packages are drawn less than their size says.
///
/// # Errors
/// When there is nothing to train on, or a file cannot be written.
pub fn prepare(
    entries: &[Entry],
    kind: Kind,
    recipe: &Recipe,
    seed: u64,
    folder: &Path,
) -> Result<CorpusReport> {
    let training = &recipe.training;
    if entries.is_empty() {
        return Err(Error::EmptyCorpus(
            "the corpus holds no accepted kernel: see `benchstone query \"SELECT verdict, count(*) \
             FROM k GROUP BY verdict\" k=CORPUS`"
                .to_owned(),
        ));
    }
    let tokenizer: Box<dyn Tokenizer> = match kind {
        Kind::Lstm => Box::new(Characters::learn(entries.iter().map(|entry| entry.text.as_str()))?),
        Kind::Hole => Box::new(Syntax::learn(&[], entries.iter().map(|e| e.text.as_str()))?),
        Kind::Infill => Box::new(Syntax::learn(
            &condition::pieces(),
            entries.iter().map(|entry| entry.text.as_str()),
        )?),
    };
    let longest = (training.length as f64 * training.longest) as usize;
    let all: Vec<(usize, Vec<u16>)> = entries
        .iter()
        .enumerate()
        .map(|(at, entry)| (at, tokenizer.encode_plain(&entry.text)))
        .filter(|(_, ids)| kind == Kind::Lstm || ids.len() <= longest)
        .collect();
    let kept: Vec<&Entry> = all.iter().map(|(at, _)| &entries[*at]).collect();
    let family = families_of(&kept);
    let split = split(&kept, &family, recipe);
    let mut report = report(&kept, &family, &split);
    report.too_long = entries.len() - kept.len();
    report.vocabulary = tokenizer.vocabulary().len();
    if report.training == 0 {
        return Err(Error::EmptyCorpus(format!(
            "none of {} kernels can be trained on: {} are longer than {longest} tokens",
            entries.len(),
            report.too_long
        )));
    }
    std::fs::create_dir_all(folder).map_err(Error::file("create", folder))?;
    let (mut tokens, mut offsets) = (Vec::new(), vec![0]);
    let (mut conditions, mut specifications, mut specification_offsets) =
        (Vec::new(), Vec::new(), vec![0]);
    for ((_, ids), entry) in all.iter().zip(&kept) {
        tokens.extend_from_slice(ids);
        offsets.push(tokens.len() as i64);
        if kind == Kind::Infill {
            let mut features = entry.features.clone();
            features.insert("tokens".to_owned(), ids.len() as f64);
            let id = |piece: Option<String>| piece.and_then(|p| tokenizer.vocabulary().id(&p));
            conditions.extend(
                condition::of(&features).into_iter().map(|piece| id(piece).unwrap_or(u16::MAX)),
            );
            let lexemes = condition::arguments(&entry.text).join(" ");
            specifications.extend(tokenizer.encode_plain(&lexemes));
        }
        specification_offsets.push(specifications.len() as i64);
    }
    report.training_tokens = all
        .iter()
        .zip(&split.side)
        .filter(|(_, side)| **side == 0)
        .map(|((_, ids), _)| ids.len() as u64)
        .sum();
    let width = conditions.len() / kept.len();
    let arrays = BTreeMap::from([
        ("tokens".to_owned(), Array::list(Numbers::U16(tokens))),
        ("offsets".to_owned(), Array::list(Numbers::I64(offsets))),
        (
            "conditions".to_owned(),
            Array { shape: vec![kept.len(), width], numbers: Numbers::U16(conditions) },
        ),
        ("specifications".to_owned(), Array::list(Numbers::U16(specifications))),
        ("specification_offsets".to_owned(), Array::list(Numbers::I64(specification_offsets))),
        ("split".to_owned(), Array::list(Numbers::U8(split.side))),
        ("weight".to_owned(), Array::list(Numbers::F32(split.weight))),
    ]);
    nn::write(&folder.join("corpus.safetensors"), &arrays)?;
    let seen = entries.iter().map(|entry| fingerprint(&entry.text)).collect();
    let seen = BTreeMap::from([("seen".to_owned(), Array::list(Numbers::I64(seen)))]);
    nn::write(&folder.join(SEEN), &seen)?;
    tokenizer::write(&*tokenizer, &folder.join("tokenizer.json"))?;
    let config = recipe.config(kind, &*tokenizer);
    json(&folder.join("config.json"), &config)?;
    json(&folder.join("training.json"), &settings(kind, recipe, seed))?;
    json(&folder.join("corpus.json"), &report)?;
    Ok(report)
}

/// File of a checkpoint with the fingerprints of all kernels of its corpus.
const SEEN: &str = "seen.safetensors";

/// A number that belongs to a text's lexemes, whatever its layout.
fn fingerprint(text: &str) -> i64 {
    let lexemes = clang::lexer::tokens(text).map(|token| token.text.as_bytes());
    let hash = dataset::content_hash_of(lexemes);
    u64::from_str_radix(&hash[..16], 16).unwrap_or(0).cast_signed()
}

/// The kernels of a checkpoint's corpus, to tell what a model says by heart.
#[derive(Clone, Debug, Default)]
pub struct Seen(BTreeSet<i64>);

impl Seen {
    /// Read them from a checkpoint's folder.
    ///
    /// # Errors
    /// When the file is missing or broken.
    pub fn read(folder: &Path) -> Result<Seen> {
        let mut arrays = nn::read(&folder.join(SEEN))?;
        Ok(match arrays.remove("seen").map(|array| array.numbers) {
            Some(Numbers::I64(all)) => Seen(all.into_iter().collect()),
            _ => Seen::default(),
        })
    }

    /// Whether the corpus holds the text, whatever its layout.
    #[must_use]
    pub fn holds(&self, text: &str) -> bool {
        self.0.contains(&fingerprint(text))
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

fn settings(kind: Kind, recipe: &Recipe, seed: u64) -> serde_json::Value {
    let mut settings = serde_json::to_value(&recipe.training).unwrap_or_default();
    settings["kind"] = serde_json::json!(kind);
    settings["special"] = serde_json::json!(Special::ALL);
    settings["seed"] = serde_json::json!(seed);
    settings
}

fn json(path: &Path, value: &impl Serialize) -> Result<()> {
    let text = serde_json::to_string_pretty(value).unwrap_or_default();
    put(path, (text + "\n").as_bytes())
}

fn families_of(entries: &[&Entry]) -> Vec<usize> {
    let signatures: Vec<Signature> = entries
        .iter()
        .map(|entry| Signature::of(clang::lexer::tokens(&entry.text).map(|token| token.text)))
        .collect();
    families(&signatures)
}

/// A number of 0 to 1 that belongs to a text.
fn share_of(text: &str) -> f64 {
    let hash = content_hash(text.as_bytes());
    let digits = u64::from_str_radix(&hash[..12], 16).unwrap_or(0);
    digits as f64 / (1_u64 << 48) as f64
}

fn split(entries: &[&Entry], family: &[usize], recipe: &Recipe) -> Split {
    let training = &recipe.training;
    let mut by_package: BTreeMap<&str, usize> = BTreeMap::new();
    for entry in entries {
        *by_package.entry(&entry.package).or_default() += 1;
    }
    let small = (entries.len() / 50).max(1);
    // Whole small packages, about half as many kernels as families give.
    let held = |package: &str| {
        by_package.len() > 8
            && by_package[package] <= small
            && share_of(package) < training.validation_share / 2.0
    };
    let mut kept_families: BTreeSet<usize> = BTreeSet::new();
    for (at, entry) in entries.iter().enumerate() {
        let first = entries[family[at]];
        let several = entries.len() > 20;
        if held(&entry.package) || (several && share_of(&first.text) < training.validation_share) {
            kept_families.insert(family[at]);
        }
    }
    let side: Vec<u8> = family.iter().map(|at| u8::from(kept_families.contains(at))).collect();
    let mut sizes: BTreeMap<usize, usize> = BTreeMap::new();
    for at in family {
        *sizes.entry(*at).or_default() += 1;
    }
    let mut weight: Vec<f64> = family.iter().map(|at| 1.0 / (sizes[at] as f64).sqrt()).collect();
    // Packages above their share are brought down to it, until none is.
    for _ in 0..32 {
        let mut sums: BTreeMap<&str, f64> = BTreeMap::new();
        let mut whole = 0.0;
        for (at, entry) in entries.iter().enumerate().filter(|(at, _)| side[*at] == 0) {
            *sums.entry(&entry.package).or_default() += weight[at];
            whole += weight[at];
        }
        let most = training.package_share.max(1.0 / sums.len().max(1) as f64) * whole;
        if sums.values().all(|sum| *sum <= most * 1.001) {
            break;
        }
        for (at, entry) in entries.iter().enumerate() {
            if let Some(sum) = sums.get(entry.package.as_str()).filter(|sum| **sum > most) {
                weight[at] *= most / sum;
            }
        }
    }
    Split { side, weight: weight.into_iter().map(|weight| weight as f32).collect() }
}

fn report(entries: &[&Entry], family: &[usize], split: &Split) -> CorpusReport {
    let mut report = CorpusReport::default();
    let (mut families, mut packages) =
        (BTreeMap::<usize, f64>::new(), BTreeMap::<&str, f64>::new());
    let mut all_packages = BTreeSet::new();
    for (at, entry) in entries.iter().enumerate() {
        all_packages.insert(entry.package.as_str());
        *report.licences.entry(entry.licence.clone()).or_default() += 1;
        if split.side[at] == 1 {
            report.validation += 1;
            continue;
        }
        report.training += 1;
        *families.entry(family[at]).or_default() += f64::from(split.weight[at]);
        *packages.entry(&entry.package).or_default() += f64::from(split.weight[at]);
    }
    let whole: f64 = families.values().sum();
    let entropy: f64 = families.values().map(|w| w / whole).map(|share| -share * share.ln()).sum();
    report.effective_families = if whole > 0.0 { entropy.exp() } else { 0.0 };
    report.families = family.iter().collect::<BTreeSet<_>>().len();
    report.packages = all_packages.len();
    let largest = packages.iter().max_by(|a, b| a.1.total_cmp(b.1));
    report.largest_package =
        largest.map(|(name, sum)| ((*name).to_owned(), sum / whole)).unwrap_or_default();
    report
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries() -> Vec<Entry> {
        (0..200)
            .map(|at| {
                let body: String = (0..12)
                    .map(|n| format!("  a[{n}] = b * {} + {};\n", at / 2 * 31 + n, at / 2 + n * n))
                    .collect();
                Entry {
                    text: format!("kernel void A(global int* a, int b) {{\n{body}}}\n"),
                    package: format!("p{}", if at < 120 { 0 } else { at % 10 }),
                    ..Entry::default()
                }
            })
            .collect()
    }

    #[test]
    fn no_family_is_on_both_sides_and_no_package_is_too_large() {
        let entries = entries();
        let borrowed: Vec<&Entry> = entries.iter().collect();
        let family = families_of(&borrowed);
        let recipe = Recipe::of(Kind::Infill);
        let split = split(&borrowed, &family, &recipe);
        for (at, first) in family.iter().enumerate() {
            assert_eq!(split.side[at], split.side[*first]);
        }
        let report = report(&borrowed, &family, &split);
        assert!(report.validation > 0 && report.training > 100, "{report:?}");
        assert!(report.largest_package.1 < 0.21, "{report:?}");
    }

    #[test]
    fn a_training_folder_holds_ids_that_come_back_as_text() {
        let folder = tempfile::tempdir().expect("a folder");
        let entries = entries();
        let recipe = Recipe::of(Kind::Infill);
        prepare(&entries, Kind::Infill, &recipe, 1, folder.path()).expect("a corpus");
        let tokenizer =
            tokenizer::read(&folder.path().join("tokenizer.json"), "syntax").expect("own");
        let arrays = nn::read(&folder.path().join("corpus.safetensors")).expect("own");
        let (Numbers::U16(tokens), Numbers::I64(offsets)) =
            (&arrays["tokens"].numbers, &arrays["offsets"].numbers)
        else {
            panic!("other numbers")
        };
        let first = &tokens[offsets[0] as usize..offsets[1] as usize];
        assert_eq!(tokenizer.decode(first), entries[0].text);
    }

    #[test]
    fn an_empty_corpus_is_an_error() {
        let folder = tempfile::tempdir().expect("a folder");
        let error = prepare(&[], Kind::Lstm, &Recipe::of(Kind::Lstm), 1, folder.path());
        assert!(error.expect_err("nothing").to_string().contains("no accepted kernel"));
    }
}

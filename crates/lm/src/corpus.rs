//! From kernels to a training folder: split, weights, tokenizer, token ids.

use crate::{
    Error, Kind, Recipe, Result, TrainingSet,
    checkpoint::write_json,
    condition,
    pretrain::{FunctionReport, Functions},
    settings::{Settings, SpecialIds, Task},
    tokenizer::{self, Characters, Special, Syntax, Tokenizer},
};
use dataset::{Signature, content_hash, families};
use nn::{Array, Numbers};
use serde::{Deserialize, Serialize};
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

/// A kernel to learn from.
#[derive(Clone, Debug, Default)]
pub struct Entry {
    /// The id of its row, or its path; may be empty.
    pub id: String,
    /// Its text.
    pub text: String,
    /// The name that it had; may be empty.
    pub name: String,
    /// Where it is from; may be empty.
    pub package: String,
    /// SPDX expression; may be empty.
    pub license: String,
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
    /// Packages of which no kernel is trained on.
    pub held_back: BTreeSet<String>,
    /// Kernels by package.
    pub package_kernels: BTreeMap<String, usize>,
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
    /// Kernels by license.
    pub licenses: BTreeMap<String, usize>,
    /// The functions to pre-train on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pretraining: Option<FunctionReport>,
}

/// Sides of the split, as `corpus.safetensors` holds them.
const TRAINING: u8 = 0;
const VALIDATION: u8 = 1;
const PRETRAINING: u8 = 2;

struct Split {
    /// [`TRAINING`] or [`VALIDATION`].
    side: Vec<u8>,
    weight: Vec<f32>,
}

/// Write a training folder: `corpus.safetensors`, `config.json`, `training.json`, `tokenizer.json`,
/// `training-set.safetensors` (a [`TrainingSet`]) and `corpus.json` with the report.
///
/// Families of near-duplicates are never split between training and validation; validation holds
/// whole packages as well. Large families and packages are drawn less than their size says.
/// `functions` are what is pre-trained on: one of each family, and none that is a near-duplicate of
/// a kernel to validate on.
///
/// # Errors
/// When there is nothing to train on, or a file cannot be written.
pub fn prepare(
    entries: &[Entry],
    functions: &[Entry],
    kind: Kind,
    recipe: &Recipe,
    seed: u64,
    folder: &Path,
) -> Result<CorpusReport> {
    let training = &recipe.training;
    if entries.is_empty() {
        return Err(Error::EmptyCorpus(
            "the corpus holds no accepted kernel: see `stampmill query \"SELECT verdict, count(*) \
             FROM k GROUP BY verdict\" k=CORPUS`"
                .to_owned(),
        ));
    }
    let tokenizer = learn(entries, functions, kind)?;
    let longest = training.longest_tokens();
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
    let sides = all.iter().zip(&split.side);
    let validation: Vec<&str> = sides
        .clone()
        .filter(|(_, side)| **side == VALIDATION)
        .map(|((at, _), _)| entries[*at].text.as_str())
        .collect();
    report.training_tokens =
        sides.filter(|(_, side)| **side == TRAINING).map(|((_, ids), _)| ids.len() as u64).sum();
    let functions = Functions::choose(functions, &validation, &*tokenizer, kind, recipe);
    std::fs::create_dir_all(folder).map_err(Error::file("create", folder))?;
    let mut rows = Rows::new(kind, &*tokenizer);
    all.iter().zip(&kept).for_each(|((_, ids), entry)| rows.push(entry, ids));
    functions.chosen.iter().for_each(|(entry, ids)| rows.push(entry, ids));
    let mut side = split.side;
    side.resize(kept.len() + functions.chosen.len(), PRETRAINING);
    let weight = [split.weight, functions.weight].concat();
    let mut arrays = rows.arrays();
    arrays.insert("split".to_owned(), Array::list(Numbers::U8(side)));
    arrays.insert("weight".to_owned(), Array::list(Numbers::F32(weight)));
    if functions.report != FunctionReport::default() {
        report.pretraining = Some(functions.report);
    }
    nn::write(&folder.join("corpus.safetensors"), &arrays)?;
    let seen = entries.iter().map(|entry| fingerprint(&entry.text)).collect();
    let seen = BTreeMap::from([("seen".to_owned(), Array::list(Numbers::I64(seen)))]);
    nn::write(&folder.join(SEEN), &seen)?;
    let pretraining = functions.chosen.iter().map(|(entry, _)| *entry);
    let learned = entries.iter().chain(pretraining);
    TrainingSet::of(learned.map(|entry| (entry.name.as_str(), entry.text.as_str())))
        .write(folder)?;
    tokenizer::write(&*tokenizer, &folder.join("tokenizer.json"))?;
    let config = recipe.config(kind, &*tokenizer);
    write_json(&folder.join("config.json"), &config)?;
    let settings = Settings {
        training: training.clone(),
        kind,
        task: Task::Kernels,
        special: special_ids(Special::ALL),
        seed,
        lora: None,
    };
    write_json(&folder.join("training.json"), &settings)?;
    write_json(&folder.join(REPORT), &report)?;
    Ok(report)
}

/// File of a checkpoint with the report on its corpus.
const REPORT: &str = "corpus.json";

/// The packages of a checkpoint's corpus of which no kernel was trained on: those that validation holds whole. None of a
/// checkpoint that does not say.
///
/// # Errors
/// When the report on its corpus is broken.
pub fn held_back(folder: &Path) -> Result<BTreeSet<String>> {
    #[derive(Deserialize)]
    struct Report {
        #[serde(default)]
        held_back: BTreeSet<String>,
    }
    let path = folder.join(REPORT);
    if !path.is_file() {
        return Ok(BTreeSet::new());
    }
    let text = fs::read_to_string(&path).map_err(Error::file("read", &path))?;
    let report = serde_json::from_str::<Report>(&text).map_err(std::io::Error::other);
    Ok(report.map_err(Error::file("read", &path))?.held_back)
}

fn special_ids(special: Special) -> SpecialIds {
    SpecialIds {
        start: special.start.into(),
        end: special.end.into(),
        pad: special.pad.into(),
        prefix: special.prefix.into(),
        suffix: special.suffix.into(),
        middle: special.middle.into(),
        arguments: special.arguments.into(),
        arguments_end: special.arguments_end.into(),
        hole: special.hole.into(),
        hole_end: special.hole_end.into(),
    }
}

/// The tokenizer of a kind. Words that functions alone hold are whole only where many functions hold
/// them: the vocabulary is the kernels'.
fn learn(entries: &[Entry], functions: &[Entry], kind: Kind) -> Result<Box<dyn Tokenizer>> {
    fn texts(entries: &[Entry]) -> impl Iterator<Item = &str> {
        entries.iter().map(|entry| entry.text.as_str())
    }
    let conditions = if kind == Kind::Infill { condition::pieces() } else { Vec::new() };
    Ok(match kind {
        Kind::Lstm => Box::new(Characters::learn(texts(entries).chain(texts(functions)))?),
        Kind::Hole | Kind::Infill => {
            Box::new(Syntax::learn_both(&conditions, texts(entries), texts(functions))?)
        }
    })
}

/// What is written of each kernel and function, one after the other.
struct Rows<'a> {
    kind: Kind,
    tokenizer: &'a dyn Tokenizer,
    tokens: Vec<u16>,
    offsets: Vec<i64>,
    conditions: Vec<u16>,
    specifications: Vec<u16>,
    specification_offsets: Vec<i64>,
}

impl<'a> Rows<'a> {
    fn new(kind: Kind, tokenizer: &'a dyn Tokenizer) -> Rows<'a> {
        Rows {
            kind,
            tokenizer,
            tokens: Vec::new(),
            offsets: vec![0],
            conditions: Vec::new(),
            specifications: Vec::new(),
            specification_offsets: vec![0],
        }
    }

    fn push(&mut self, entry: &Entry, ids: &[u16]) {
        self.tokens.extend_from_slice(ids);
        self.offsets.push(self.tokens.len() as i64);
        if self.kind == Kind::Infill {
            let mut features = entry.features.clone();
            features.insert("tokens".to_owned(), ids.len() as f64);
            let vocabulary = self.tokenizer.vocabulary();
            let id = |piece: Option<String>| piece.and_then(|piece| vocabulary.id(&piece));
            let conditions = condition::of(&features);
            self.conditions
                .extend(conditions.into_iter().map(|piece| id(piece).unwrap_or(u16::MAX)));
            let lexemes = condition::arguments(&entry.text).join(" ");
            self.specifications.extend(self.tokenizer.encode_plain(&lexemes));
        }
        self.specification_offsets.push(self.specifications.len() as i64);
    }

    fn arrays(self) -> BTreeMap<String, Array> {
        let rows = self.offsets.len() - 1;
        let conditions = Array {
            shape: vec![rows, self.conditions.len() / rows.max(1)],
            numbers: Numbers::U16(self.conditions),
        };
        let starts = Array::list(Numbers::I64(self.specification_offsets));
        BTreeMap::from([
            ("tokens".to_owned(), Array::list(Numbers::U16(self.tokens))),
            ("offsets".to_owned(), Array::list(Numbers::I64(self.offsets))),
            ("conditions".to_owned(), conditions),
            ("specifications".to_owned(), Array::list(Numbers::U16(self.specifications))),
            ("specification_offsets".to_owned(), starts),
        ])
    }
}

/// File of a checkpoint with the fingerprints of all kernels of its corpus.
const SEEN: &str = "seen.safetensors";

/// A number that belongs to a text's lexemes, whatever its layout; `kernel` and `__kernel` are one lexeme.
fn fingerprint(text: &str) -> i64 {
    let lexemes = lexer::tokens(text).map(|token| lexer::spelling(token.text).as_bytes());
    let hash = dataset::content_hash_of(lexemes);
    u64::from_str_radix(&hash[..16], 16).unwrap_or(0).cast_signed()
}

/// The kernels of a checkpoint's corpus, to tell what a model says by heart.
#[derive(Clone, Debug, Default)]
pub struct Seen(BTreeSet<i64>);

impl Seen {
    /// Read them from a checkpoint's folder; none of a checkpoint that came without.
    ///
    /// # Errors
    /// When the folder is gone or the file is broken.
    pub fn read(folder: &Path) -> Result<Seen> {
        if folder.is_dir() && !folder.join(SEEN).exists() {
            return Ok(Seen::default());
        }
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

fn families_of(entries: &[&Entry]) -> Vec<usize> {
    let signatures: Vec<Signature> = entries
        .iter()
        .map(|entry| Signature::of(lexer::tokens(&entry.text).map(|token| token.text)))
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
    let drawn: Vec<usize> = (0..entries.len()).filter(|at| side[*at] == TRAINING).collect();
    let packages: Vec<&str> = drawn.iter().map(|at| entries[*at].package.as_str()).collect();
    let mut capped: Vec<f64> = drawn.iter().map(|at| weight[*at]).collect();
    cap_packages(&packages, &mut capped, training.package_share);
    drawn.iter().zip(capped).for_each(|(at, capped)| weight[*at] = capped);
    Split { side, weight: weight.into_iter().map(|weight| weight as f32).collect() }
}

/// Bring packages above their share of the weight down to it, until none is.
pub(crate) fn cap_packages(packages: &[&str], weight: &mut [f64], share: f64) {
    for _ in 0..32 {
        let mut sums: BTreeMap<&str, f64> = BTreeMap::new();
        for (package, weight) in packages.iter().zip(&*weight) {
            *sums.entry(package).or_default() += weight;
        }
        let whole: f64 = sums.values().sum();
        let most = share.max(1.0 / sums.len().max(1) as f64) * whole;
        if sums.values().all(|sum| *sum <= most * 1.001) {
            return;
        }
        for (package, weight) in packages.iter().zip(&mut *weight) {
            if let Some(sum) = sums.get(package).filter(|sum| **sum > most) {
                *weight *= most / sum;
            }
        }
    }
}

fn report(entries: &[&Entry], family: &[usize], split: &Split) -> CorpusReport {
    let mut report = CorpusReport::default();
    let (mut families, mut packages) =
        (BTreeMap::<usize, f64>::new(), BTreeMap::<&str, f64>::new());
    let mut all_packages = BTreeSet::new();
    for (at, entry) in entries.iter().enumerate() {
        all_packages.insert(entry.package.as_str());
        *report.licenses.entry(entry.license.clone()).or_default() += 1;
        *report.package_kernels.entry(entry.package.clone()).or_default() += 1;
        if split.side[at] == VALIDATION {
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
    let held_back = all_packages.iter().filter(|package| !packages.contains_key(*package));
    report.held_back = held_back.map(|package| (*package).to_owned()).collect();
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
    fn a_copy_is_seen_in_every_spelling_and_layout() {
        let seen = Seen([fingerprint("__kernel void A(__global int* a) { a[0] = 1; }")].into());
        assert!(seen.holds("kernel void A(global int *a)\n{\n  a[0] = 1;\n}\n"));
        assert!(!seen.holds("kernel void A(global int *a) { a[0] = 2; }"));
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
        assert_eq!(report.package_kernels["p0"], 128);
        let is_trained_on = |name: &str| {
            let is_one = |at: usize| entries[at].package == name && split.side[at] == TRAINING;
            (0..entries.len()).any(is_one)
        };
        let held_back = report.package_kernels.keys().filter(|name| !is_trained_on(name));
        assert!(report.held_back.iter().eq(held_back), "{report:?}");
    }

    #[test]
    fn a_checkpoint_says_which_packages_it_was_not_trained_on() {
        let folder = tempfile::tempdir().expect("a folder");
        let found = || held_back(folder.path());
        assert!(found().expect("nothing is said").is_empty());
        let say = |text: &str| fs::write(folder.path().join(REPORT), text).expect("is written");
        say("{\"training\": 3}");
        assert!(found().expect("an older report").is_empty());
        say("{\"held_back\": [\"b\", \"a\"]}");
        assert!(found().expect("a report").iter().eq(["a", "b"]));
        say("{\"held_back\": 3}");
        assert!(found().is_err());
    }

    #[test]
    fn a_training_folder_holds_ids_that_come_back_as_text() {
        let folder = tempfile::tempdir().expect("a folder");
        let entries = entries();
        let recipe = Recipe::of(Kind::Infill);
        prepare(&entries, &[], Kind::Infill, &recipe, 1, folder.path()).expect("a corpus");
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
    fn functions_stand_behind_the_kernels_without_near_duplicates() {
        let folder = tempfile::tempdir().expect("a folder");
        let kernels = entries();
        let recipe = Recipe::of(Kind::Infill);
        let function = |at: usize| Entry {
            text: format!("int A(int a, int* b) {{\n  return b[a] * {at} + {};\n}}\n", at * at),
            package: "c".to_owned(),
            license: "MIT".to_owned(),
            ..Entry::default()
        };
        // Every function twice, and every kernel as a function: those of validation are left out.
        let mut functions: Vec<Entry> = (0..20).chain(0..20).map(function).collect();
        functions.extend(kernels.iter().cloned());
        let report = prepare(&kernels, &functions, Kind::Infill, &recipe, 1, folder.path())
            .expect("a corpus");
        let alone = tempfile::tempdir().expect("a folder");
        let without =
            prepare(&kernels, &[], Kind::Infill, &recipe, 1, alone.path()).expect("a corpus");
        assert_eq!((report.training, report.validation), (without.training, without.validation));
        let functions = report.pretraining.expect("functions");
        assert!(functions.near_validation >= report.validation, "{functions:?}");
        assert_eq!(functions.packages["c"], 20);
        assert_eq!(functions.licenses["MIT"], 20);
        let arrays = nn::read(&folder.path().join("corpus.safetensors")).expect("own");
        let Numbers::U8(split) = &arrays["split"].numbers else { panic!("other numbers") };
        let count = |side: u8| split.iter().filter(|known| **known == side).count();
        assert_eq!(count(PRETRAINING), functions.functions);
        assert_eq!(count(TRAINING), report.training);
        assert_eq!(arrays["weight"].shape, [split.len()]);
        assert_eq!(arrays["offsets"].shape, [split.len() + 1]);
    }

    #[test]
    fn an_empty_corpus_is_an_error() {
        let folder = tempfile::tempdir().expect("a folder");
        let error = prepare(&[], &[], Kind::Lstm, &Recipe::of(Kind::Lstm), 1, folder.path());
        assert!(error.expect_err("nothing").to_string().contains("no accepted kernel"));
    }
}

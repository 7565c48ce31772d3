//! What is in a data set of modules: sizes, opcodes before and after `-O3`, calls, tokens.

mod page;
mod tokens;

pub use tokens::SIZES;

use crate::{Error, Measure, Module, Reader, dedup::name_of, opcode_names};
use dataset::{Builder, Dataset, Input, Notes, Progress, Row as _};
use rayon::prelude::*;
pub use rows::Statistics;
use serde::Serialize;
use std::{
    collections::{BTreeMap, HashMap},
    path::PathBuf,
    sync::atomic::{AtomicBool, Ordering},
    time::Instant,
};
use tokens::{Counts, Encodings};

/// How the details of a row begin that say what failed on a module that was measured.
const NOT_OPTIMISED: &str = "-O3: ";
const NO_TEXT: &str = "text: ";

/// Modules measured at a time, and written as one part.
const CHUNK: usize = 64;

/// What to count, and how.
#[derive(Debug)]
pub struct Stats<'a> {
    /// A data set of modules.
    pub dataset: PathBuf,
    /// The data set of [`Statistics`] to make.
    pub out: PathBuf,
    /// Replace what is there.
    pub force: bool,
    /// Run `-O3`'s passes and the back end too.
    pub optimise: bool,
    /// Train a tokenizer on the textual IR and count.
    pub tokens: bool,
    /// Threads and workers.
    pub jobs: usize,
    /// Reads modules.
    pub reader: &'a Reader,
    /// Set it to stop.
    pub cancelled: &'a AtomicBool,
}

/// Sums over the modules of one language.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Sums {
    /// Modules measured.
    pub modules: u64,
    /// Bytes of bitcode.
    pub bitcode_bytes: u64,
    /// Bytes of textual IR.
    pub text_bytes: u64,
    /// Functions with a body.
    pub functions: u64,
    /// Instructions.
    pub instructions: u64,
    /// Instructions after `-O3`'s passes.
    pub instructions_after: u64,
    /// Bytes of objects.
    pub object_bytes: u64,
    /// Calls: by name, of LLVM's own, through pointers, of assembly.
    pub calls: [u64; 4],
    /// Tokens by size of vocabulary.
    pub tokens: [u64; 4],
}

/// What `ir stats` found, as `--json` prints it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct StatsReport {
    /// Modules.
    pub modules: u64,
    /// Modules on which `-O3`'s passes failed or ran out of time.
    pub not_optimised: u64,
    /// Modules whose text could not be had: no vocabulary knows them, and their tokens count as none.
    pub without_text: u64,
    /// Modules that could not be read.
    pub failed: u64,
    /// By language, and `all`.
    pub languages: BTreeMap<String, Sums>,
    /// Instructions by opcode: before, after.
    pub opcodes: BTreeMap<String, [u64; 2]>,
    /// Modules by the logarithm to base 2 of their bytes of bitcode.
    pub sizes: BTreeMap<u32, u64>,
    /// Sizes of the vocabularies that were trained; smaller than asked for where the data has no
    /// more pairs that occur twice.
    pub vocabularies: [usize; 4],
    /// Distinct pieces of text.
    pub pieces: u64,
    /// Wall-clock time.
    pub seconds: f64,
}

/// Measure the modules of a data set; makes a data set with one row each, and a page of plots.
///
/// # Errors
/// When the data set cannot be read or written, or the user stops it.
pub fn stats(options: &Stats<'_>, progress: &dyn Progress) -> Result<StatsReport, Error> {
    let started = Instant::now();
    let dataset = Dataset::open(&options.dataset)?;
    dataset.require(Module::SCHEMA, Module::VERSION)?;
    let identity = dataset.manifest().identity.clone();
    let settings = (&identity, options.optimise, options.tokens);
    let builder = Builder::<Statistics>::create(&options.out, options.force, &settings)?;
    let threads = rayon::ThreadPoolBuilder::new()
        .num_threads(options.jobs.max(1))
        .build()
        .map_err(|error| Error::Worker(error.to_string()))?;
    let mut report = StatsReport::default();
    let encodings = match options.tokens {
        true => {
            progress.begin("reading text", dataset.manifest().rows);
            let mut counts = Counts::new();
            in_chunks(&dataset, options, progress, |_, modules| {
                let found = threads.install(|| {
                    modules
                        .par_iter()
                        .map(|module| counted(options.reader, module))
                        .collect::<Result<Vec<_>, _>>()
                })?;
                for (piece, count) in found.into_iter().flatten() {
                    *counts.entry(piece).or_default() += count;
                }
                Ok(())
            })?;
            progress.message("training the tokenizers");
            report.pieces = counts.len() as u64;
            let encodings = Encodings::train(&counts)?;
            report.vocabularies = encodings.sizes;
            let lengths: HashMap<_, [u32; 4]> = threads.install(|| {
                counts
                    .into_par_iter()
                    .map(|(piece, _)| {
                        let lengths = encodings.lengths(&piece);
                        (piece, lengths)
                    })
                    .collect()
            });
            Some((encodings, lengths))
        }
        false => None,
    };
    progress.begin("measuring", dataset.manifest().rows);
    let mut keys = Vec::new();
    in_chunks(&dataset, options, progress, |number, modules| {
        let key = number.to_string();
        if !builder.has(&key) {
            let lengths = encodings.as_ref().map(|(_, lengths)| lengths);
            let rows = threads.install(|| {
                modules
                    .par_iter()
                    .map(|module| measured(options, module, lengths))
                    .collect::<Result<Vec<_>, _>>()
            })?;
            builder.add(&key, rows)?;
        }
        keys.push(key);
        Ok(())
    })?;
    for key in &keys {
        for row in builder.rows_of(key) {
            report.add(&row?);
        }
    }
    let notes = Notes {
        inputs: vec![Input { name: name_of(&options.dataset), hash: identity }],
        configuration: serde_json::json!({
            "opcodes": opcode_names(), "optimise": options.optimise, "vocabularies": report.vocabularies,
        }),
        tools: crate::extract::tools(),
        summary: serde_json::to_value(&report).unwrap_or_default(),
        ..Notes::default()
    };
    let rows: Vec<_> = keys.iter().map(|key| builder.rows_of(key)).collect();
    builder.finish_with(rows.into_iter().flatten(), notes)?;
    if let Some((encodings, _)) = &encodings {
        encodings.save(&options.out)?;
    }
    report.seconds = started.elapsed().as_secs_f64();
    page::write(&options.out.join("index.html"), &report)?;
    Ok(report)
}

/// Give the accepted modules to `work`, some at a time.
fn in_chunks(
    dataset: &Dataset,
    options: &Stats<'_>,
    progress: &dyn Progress,
    mut work: impl FnMut(usize, Vec<Module>) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut chunk = Vec::new();
    let mut number = 0;
    for row in dataset.rows::<Module>()? {
        let row = row?;
        progress.advance(1);
        if row.is_accepted() {
            chunk.push(row);
        }
        if chunk.len() == CHUNK {
            if options.cancelled.load(Ordering::Relaxed) {
                return Err(Error::Cancelled);
            }
            work(number, std::mem::take(&mut chunk))?;
            number += 1;
        }
    }
    if chunk.is_empty() { Ok(()) } else { work(number, chunk) }
}

/// Of a module without text there is nothing to count here; its row says so.
fn counted(reader: &Reader, module: &Module) -> Result<Counts, Error> {
    let mut counts = Counts::new();
    if let Ok(text) = reader.text(&module.path, &module.content)? {
        tokens::count(&text, &mut counts);
    }
    Ok(counts)
}

fn measured(
    options: &Stats<'_>,
    module: &Module,
    lengths: Option<&HashMap<compact_str::CompactString, [u32; 4]>>,
) -> Result<Statistics, Error> {
    let mut detail = String::new();
    let mut found = options.reader.measure(&module.path, &module.content, options.optimise)?;
    if options.optimise
        && let Err(verdict) = &found
    {
        detail = format!("{NOT_OPTIMISED}{verdict}");
        found = options.reader.measure(&module.path, &module.content, false)?;
    }
    let row = Statistics {
        id: module.id.clone(),
        language: module.language.clone(),
        package: module.package.clone(),
        path: module.path.clone(),
        bitcode_bytes: module.bytes,
        ..Statistics::default()
    };
    let measure = match found {
        Ok(measure) => measure,
        Err(verdict) => {
            return Ok(Statistics {
                verdict: verdict.name.into_owned(),
                detail: verdict.detail,
                ..row
            });
        }
    };
    let mut tokens = [0_u64; 4];
    if let Some(lengths) = lengths {
        match options.reader.text(&module.path, &module.content)? {
            Ok(text) => {
                for piece in tokens::pieces(&text) {
                    let known = lengths.get(piece).copied().unwrap_or_default();
                    tokens.iter_mut().zip(known).for_each(|(sum, one)| *sum += u64::from(one));
                }
            }
            Err(verdict) => {
                let apart = if detail.is_empty() { "" } else { "; " };
                detail = format!("{detail}{apart}{NO_TEXT}{verdict}");
            }
        }
    }
    Ok(filled(row, measure, tokens, detail))
}

fn filled(row: Statistics, measure: Measure, tokens: [u64; 4], detail: String) -> Statistics {
    let before = measure.before;
    let [calls_direct, calls_intrinsic, calls_indirect, calls_assembly] = before.calls;
    let [tokens_10k, tokens_50k, tokens_100k, tokens_200k] = tokens;
    let row = Statistics {
        text_bytes: measure.text_bytes,
        functions: before.functions.len() as u64,
        declarations: before.declarations,
        blocks: before.blocks,
        instructions: before.instructions,
        data_bytes: before.data_bytes,
        calls_direct,
        calls_intrinsic,
        calls_indirect,
        calls_assembly,
        opcodes: before.opcodes,
        tokens_10k,
        tokens_50k,
        tokens_100k,
        tokens_200k,
        verdict: dataset::Verdict::ACCEPTED.to_owned(),
        detail,
        ..row
    };
    let Some(after) = measure.after else { return row };
    Statistics {
        functions_after: after.functions.len() as u64,
        blocks_after: after.blocks,
        instructions_after: after.instructions,
        bitcode_bytes_after: measure.optimised_bytes,
        functions_unchanged: common(&before.functions, &after.functions),
        opcodes_after: after.opcodes,
        object_bytes: measure.object_bytes,
        ..row
    }
}

/// How many values two ascending lists share.
fn common(a: &[u64], b: &[u64]) -> u64 {
    let (mut at, mut other, mut shared) = (0, 0, 0);
    while at < a.len() && other < b.len() {
        match a[at].cmp(&b[other]) {
            std::cmp::Ordering::Less => at += 1,
            std::cmp::Ordering::Greater => other += 1,
            std::cmp::Ordering::Equal => {
                shared += 1;
                at += 1;
                other += 1;
            }
        }
    }
    shared
}

impl StatsReport {
    fn add(&mut self, row: &Statistics) {
        if row.verdict != dataset::Verdict::ACCEPTED {
            self.failed += 1;
            return;
        }
        self.modules += 1;
        self.not_optimised += u64::from(row.detail.starts_with(NOT_OPTIMISED));
        self.without_text += u64::from(row.detail.contains(NO_TEXT));
        *self.sizes.entry(row.bitcode_bytes.max(1).ilog2()).or_default() += 1;
        for (at, name) in opcode_names().into_iter().enumerate() {
            let number = |list: &[u64]| list.get(at).copied().unwrap_or(0);
            let (before, after) = (number(&row.opcodes), number(&row.opcodes_after));
            if before + after > 0 {
                let both = self.opcodes.entry(name.to_owned()).or_default();
                both[0] += before;
                both[1] += after;
            }
        }
        for name in [row.language.as_str(), "all"] {
            let sums = self.languages.entry(name.to_owned()).or_default();
            sums.modules += 1;
            sums.bitcode_bytes += row.bitcode_bytes;
            sums.text_bytes += row.text_bytes;
            sums.functions += row.functions;
            sums.instructions += row.instructions;
            sums.instructions_after += row.instructions_after;
            sums.object_bytes += row.object_bytes;
            let calls =
                [row.calls_direct, row.calls_intrinsic, row.calls_indirect, row.calls_assembly];
            let tokens = [row.tokens_10k, row.tokens_50k, row.tokens_100k, row.tokens_200k];
            sums.calls.iter_mut().zip(calls).for_each(|(sum, one)| *sum += one);
            sums.tokens.iter_mut().zip(tokens).for_each(|(sum, one)| *sum += one);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_without_text_is_counted_as_one() {
        let mut report = StatsReport::default();
        for detail in ["", "text: timeout: x", "-O3: crash: y", "-O3: crash: y; text: timeout: x"] {
            let verdict = dataset::Verdict::ACCEPTED.to_owned();
            report.add(&Statistics { verdict, detail: detail.to_owned(), ..Statistics::default() });
        }
        assert_eq!((report.modules, report.not_optimised, report.without_text), (4, 2, 2));
    }

    #[test]
    fn shared_values_are_counted_with_their_multiplicity() {
        assert_eq!(super::common(&[1, 2, 2, 5], &[2, 2, 2, 5, 9]), 3);
        assert_eq!(super::common(&[], &[1]), 0);
    }
}

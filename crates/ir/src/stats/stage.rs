//! Measures modules, one by one; the tokenizers are trained on all of them before.

use super::{
    NO_TEXT, NOT_OPTIMISED, Statistics, StatsReport, page,
    tokens::{self, Counts, Encodings},
};
use crate::{
    Error, Measure, Module, ModuleItem, Reader, extract,
    input::{BATCH, Modules, on_modules},
    opcode_names,
};
use compact_str::CompactString;
use dataset::{
    Progress, Verdict,
    stage::{ByRows, Cancel, Context, Facts, Finish, Items, Share, Stage, Units, Worked},
};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::{
    collections::{BTreeMap, HashMap},
    fs,
    path::{Path, PathBuf},
    sync::OnceLock,
};

/// Modules whose text is read at a time.
const CHUNK: usize = 64;

/// Makes a data set with one row for each module of another, and a page of plots.
pub struct Stats<'a> {
    modules: Modules,
    reader: &'a Reader,
    optimise: bool,
    tokens: bool,
    progress: &'a dyn Progress,
    cancel: Cancel,
    trained: OnceLock<Trained>,
}

/// The tokenizers, and what they make of each piece of text.
struct Trained {
    encodings: Encodings,
    lengths: HashMap<CompactString, [u32; 4]>,
}

impl<'a> Stats<'a> {
    /// Of the data set of modules at `dataset`; with `optimise`, `-O3`'s passes and the back end run too,
    /// with `tokens`, a tokenizer is trained on the textual IR and tokens are counted.
    ///
    /// # Errors
    /// When the data set cannot be read.
    pub fn new(
        dataset: &Path,
        reader: &'a Reader,
        optimise: bool,
        tokens: bool,
        context: &Context<'a>,
    ) -> Result<Stats<'a>, Error> {
        Ok(Stats {
            modules: Modules::open(dataset)?,
            reader,
            optimise,
            tokens,
            progress: context.progress,
            cancel: context.cancel.clone(),
            trained: OnceLock::new(),
        })
    }

    /// Put the page of plots and the tokenizers beside the rows.
    ///
    /// # Errors
    /// When they cannot be written.
    pub fn publish(&self, out: &Path, report: &StatsReport) -> Result<(), Error> {
        dataset::beside(out, |folder| {
            if let Some(trained) = self.trained.get() {
                trained.encodings.save(folder)?;
            }
            page::write(&folder.join("index.html"), report)
        })
    }

    /// As [`Stats::publish`], of a data set that was merged from `parts`: all have the same tokenizers.
    ///
    /// # Errors
    /// As there.
    pub fn publish_merged(
        out: &Path,
        parts: &[PathBuf],
        report: &StatsReport,
    ) -> Result<(), Error> {
        dataset::beside(out, |folder| {
            for name in tokens::FILES {
                let found = parts.iter().map(|part| dataset::file_beside(part, name));
                let found =
                    found.collect::<dataset::Result<Vec<_>>>()?.into_iter().flatten().next();
                if let Some(file) = found {
                    fs::copy(&file, folder.join(name)).map_err(Error::file("copy", &file))?;
                }
            }
            page::write(&folder.join("index.html"), report)
        })
    }

    /// Every part of a job trains on all modules: what a tokenizer makes of one depends on the others.
    fn train(&self) -> Result<Trained, Error> {
        self.progress.begin("reading text", self.accepted());
        let mut counts = Counts::new();
        let mut modules = self.modules.rows()?.filter(is_accepted);
        loop {
            let chunk: Vec<Module> = modules.by_ref().take(CHUNK).collect::<Result<_, _>>()?;
            if self.cancel.is_cancelled() {
                return Err(Error::Cancelled);
            }
            if chunk.is_empty() {
                break;
            }
            let found: Vec<Counts> =
                chunk.par_iter().map(|module| self.counted(module)).collect::<Result<_, _>>()?;
            for (piece, count) in found.into_iter().flatten() {
                *counts.entry(piece).or_default() += count;
            }
            self.progress.advance(chunk.len() as u64);
        }
        self.progress.message("training the tokenizers");
        let encodings = Encodings::train(&counts)?;
        let length = |(piece, _): (CompactString, u64)| {
            let lengths = encodings.lengths(&piece);
            (piece, lengths)
        };
        let lengths = counts.into_par_iter().map(length).collect();
        Ok(Trained { encodings, lengths })
    }

    /// Of a module without text there is nothing to count here; its row says so.
    fn counted(&self, module: &Module) -> Result<Counts, Error> {
        let mut counts = Counts::new();
        if let Ok(text) = self.reader.text(&module.path, &module.content)? {
            tokens::count(&text, &mut counts);
        }
        Ok(counts)
    }

    fn measured(&self, module: &Module) -> Result<Statistics, Error> {
        let mut detail = String::new();
        let mut found = self.reader.measure(&module.path, &module.content, self.optimise)?;
        if self.optimise
            && let Err(verdict) = &found
        {
            detail = format!("{NOT_OPTIMISED}{verdict}");
            found = self.reader.measure(&module.path, &module.content, false)?;
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
                let (verdict, detail) = (verdict.name.into_owned(), verdict.detail);
                return Ok(Statistics { verdict, detail, ..row });
            }
        };
        let mut tokens = [0_u64; 4];
        if let Some(Trained { lengths, .. }) = self.trained.get() {
            match self.reader.text(&module.path, &module.content)? {
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

    fn accepted(&self) -> u64 {
        let verdicts = &self.modules.dataset().manifest().notes.verdicts;
        verdicts.get(Verdict::ACCEPTED).copied().unwrap_or(0)
    }
}

fn is_accepted(row: &Result<Module, Error>) -> bool {
    !row.as_ref().is_ok_and(|row| !row.is_accepted())
}

/// What the tokenizers were trained on, equal in all parts of a job.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokensFacts {
    vocabularies: [usize; 4],
    pieces: u64,
}

impl Facts for TokensFacts {
    fn absorb(&mut self, other: TokensFacts) {
        if other.pieces > 0 {
            *self = other;
        }
    }
}

impl Stage for Stats<'_> {
    const NAME: &'static str = "ir stats";
    on_modules!();
    const FILES: &'static [&'static str] = &tokens::FILES;
    type Row = Statistics;
    type Facts = TokensFacts;
    type Summary = StatsReport;

    fn settings(&self) -> Value {
        serde_json::json!({
            "opcodes": opcode_names(), "optimise": self.optimise, "tokens": self.tokens,
        })
    }

    fn items_by_rows(&self, share: Share) -> Result<Option<ByRows<'_, Self>>, Error> {
        if self.tokens {
            // Every part reads all modules.
            return Ok(None);
        }
        let (own, items) = self.modules.items_by_rows(share)?;
        let accepted = |item: &Result<(u64, ModuleItem), Error>| {
            !item.as_ref().is_ok_and(|(_, item)| !item.module.is_accepted())
        };
        Ok(Some(ByRows { own, all: Box::new(items.filter(accepted)) }))
    }

    fn items(&self) -> Result<Items<'_, Self>, Error> {
        if self.tokens && self.trained.get().is_none() {
            // Nobody else sets it: a run asks for its items once.
            let _ = self.trained.set(self.train()?);
        }
        let accepted = |item: &Result<ModuleItem, Error>| {
            !item.as_ref().is_ok_and(|i| !i.module.is_accepted())
        };
        let all = Box::new(self.modules.items()?.filter(accepted));
        Ok(Items { total: Some(self.accepted()), all })
    }

    fn batch_size(&self) -> usize {
        if self.optimise { 1 } else { BATCH }
    }

    fn work(&self, (): &mut (), items: &[ModuleItem]) -> Result<Vec<Worked<Statistics>>, Error> {
        let row = |item: &ModuleItem| Ok(Worked::Rows(vec![self.measured(&item.module)?]));
        items.iter().map(row).collect()
    }

    fn left_out(&self) -> Result<BTreeMap<String, u64>, Error> {
        Ok(self.modules.dataset().rejected()?)
    }

    fn is_fault(error: &Error) -> bool {
        error.is_fault()
    }

    fn observe(&self, _: &ModuleItem, _: Option<&[Statistics]>, facts: &mut TokensFacts) {
        if let Some(Trained { encodings, lengths }) = self.trained.get() {
            *facts = TokensFacts { vocabularies: encodings.sizes, pieces: lengths.len() as u64 };
        }
    }

    fn tools(&self) -> BTreeMap<String, String> {
        extract::tools()
    }

    fn finish<'a>(
        _: &'a Value,
        TokensFacts { vocabularies, pieces }: TokensFacts,
        units: &'a Units<Statistics>,
    ) -> Result<Finish<'a, Statistics, StatsReport>, Error> {
        let mut report = StatsReport { vocabularies, pieces, ..StatsReport::default() };
        let mut verdicts: BTreeMap<String, u64> = BTreeMap::new();
        for row in units.rows() {
            let (_, row) = row?;
            report.add(&row);
            *verdicts.entry(row.verdict).or_default() += 1;
        }
        Ok(Finish::all(verdicts, report))
    }
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
        verdict: Verdict::ACCEPTED.to_owned(),
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

#[cfg(test)]
mod tests {
    #[test]
    fn shared_values_are_counted_with_their_multiplicity() {
        assert_eq!(super::common(&[1, 2, 2, 5], &[2, 2, 2, 5, 9]), 3);
        assert_eq!(super::common(&[], &[1]), 0);
    }
}

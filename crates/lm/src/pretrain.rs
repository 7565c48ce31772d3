//! C functions that a model of kernels is pre-trained on: which of them, and how often each is drawn.

use crate::{Entry, Kind, Recipe, corpus::cap_packages, tokenizer::Tokenizer};
use dataset::{Signature, families};
use serde::Serialize;
use std::collections::BTreeMap;

/// What the functions to pre-train on came to.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct FunctionReport {
    /// Functions to train on.
    pub functions: usize,
    /// Functions left out because they are too long.
    pub too_long: usize,
    /// Functions left out because another one is nearly the same.
    pub near_duplicates: usize,
    /// Functions left out because they are nearly the same as a kernel of the validation split.
    pub near_validation: usize,
    /// Their tokens.
    pub tokens: u64,
    /// Functions by package.
    pub packages: BTreeMap<String, usize>,
    /// Functions by license.
    pub licenses: BTreeMap<String, usize>,
}

/// The functions of a training folder.
#[derive(Debug, Default)]
pub(crate) struct Functions<'a> {
    /// Each with its tokens.
    pub(crate) chosen: Vec<(&'a Entry, Vec<u16>)>,
    /// How much each is drawn.
    pub(crate) weight: Vec<f32>,
    pub(crate) report: FunctionReport,
}

impl<'a> Functions<'a> {
    /// The first function of each family of near-duplicates, but none of a family that a kernel of
    /// the validation split belongs to.
    pub(crate) fn choose(
        all: &'a [Entry],
        validation: &[&str],
        tokenizer: &dyn Tokenizer,
        kind: Kind,
        recipe: &Recipe,
    ) -> Functions<'a> {
        let texts = validation.iter().copied().chain(all.iter().map(|entry| entry.text.as_str()));
        let signatures: Vec<Signature> =
            texts.map(|text| Signature::of(lexer::tokens(text).map(|t| t.text))).collect();
        let family = families(&signatures);
        let longest = recipe.training.longest_tokens();
        let mut report = FunctionReport::default();
        let mut chosen = Vec::new();
        for (at, entry) in (validation.len()..).zip(all) {
            if family[at] < validation.len() {
                report.near_validation += 1;
                continue;
            }
            if family[at] != at {
                report.near_duplicates += 1;
                continue;
            }
            let ids = tokenizer.encode_plain(&entry.text);
            if kind != Kind::Lstm && ids.len() > longest {
                report.too_long += 1;
                continue;
            }
            report.tokens += ids.len() as u64;
            *report.packages.entry(entry.package.clone()).or_default() += 1;
            *report.licenses.entry(entry.license.clone()).or_default() += 1;
            chosen.push((entry, ids));
        }
        report.functions = chosen.len();
        let packages: Vec<&str> = chosen.iter().map(|(entry, _)| entry.package.as_str()).collect();
        let mut weight = vec![1.0; chosen.len()];
        cap_packages(&packages, &mut weight, recipe.training.package_share);
        let weight = weight.into_iter().map(|weight| weight as f32).collect();
        Functions { chosen, weight, report }
    }
}

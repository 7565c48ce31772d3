//! Rewrites of OpenCL kernels: what people try first when a kernel is slow.
//!
//! One file per rule, the list of them is [`RULES`]. A rule is near enough: whether a candidate computes what the kernel did, and
//! whether it is faster, `edits judge-kernels` says. To add a rule, write a file beside these, name it in the list, and put
//! kernels that it changes and leaves into `cases/kernel-rules`.

mod accumulate;
mod flow;
mod hoist;
mod interchange;
mod native;
mod propose;
mod restrict;
mod tile;
mod unroll;
mod vector;

pub use propose::{KernelProposals, propose_kernels};

use super::{Edit, Syntax, apply, ask, conflict};
use crate::Result;
use clang::{Clang, Options, Request};
use std::ops::Range;

/// Bytes of the source and what to put in their place; empty ranges insert.
type Pieces = Vec<(Range<usize>, String)>;

/// A rule of rewriting kernels.
struct Rule {
    /// Its name in results.
    name: &'static str,
    /// Whether results are equal bit for bit where the judge accepts them: otherwise numbers are rounded in another way.
    exact: bool,
    /// Its edits, each by itself.
    edits: fn(&Syntax<'_>) -> Vec<Pieces>,
}

const RULES: [Rule; 8] = [
    Rule { name: "restrict", exact: true, edits: restrict::edits },
    Rule { name: "unroll", exact: true, edits: unroll::edits },
    Rule { name: "hoist", exact: true, edits: hoist::edits },
    Rule { name: "accumulate", exact: true, edits: accumulate::edits },
    Rule { name: "tile", exact: true, edits: tile::edits },
    Rule { name: "interchange", exact: true, edits: interchange::edits },
    Rule { name: "vectorize", exact: false, edits: vector::edits },
    Rule { name: "native", exact: false, edits: native::edits },
];

/// Names of the rules for kernels, those first that leave every result as it is.
#[must_use]
pub fn kernel_rule_names() -> Vec<&'static str> {
    RULES.iter().map(|rule| rule.name).collect()
}

/// A candidate for a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelCandidate {
    /// The rule that made it.
    pub rule: &'static str,
    /// Whether it rounds as the kernel does.
    pub exact: bool,
    /// The program.
    pub text: String,
}

/// Rewrites kernels by rule.
pub struct KernelRewriter {
    clang: Clang,
}

impl KernelRewriter {
    /// Start clang.
    ///
    /// # Errors
    /// When there is no clang worker.
    pub fn start(workers: usize) -> Result<KernelRewriter> {
        let worker = clang::find_worker()?;
        Ok(KernelRewriter { clang: Clang::start_at(&worker, workers, clang::Includes::Own)? })
    }

    /// The candidates of a program of OpenCL C 2.0, one for each rule that finds something in it, made at all places of the
    /// rule at once; none where clang cannot read it.
    ///
    /// # Errors
    /// When the machine keeps the clang worker from answering.
    pub fn candidates(&self, source: &str) -> Result<Vec<KernelCandidate>> {
        let Some(answer) = ask(&self.clang, &parse(source, true))? else { return Ok(Vec::new()) };
        let (None, Some(tree), Some(facts)) = (answer.first_error(), &answer.tree, &answer.facts)
        else {
            return Ok(Vec::new());
        };
        let syntax = Syntax::new(source, tree, facts, false);
        let candidate = |rule: &Rule| -> Result<Option<KernelCandidate>> {
            let text = applied(source, rule.name, (rule.edits)(&syntax));
            if text == source {
                return Ok(None);
            }
            let layout =
                Request::Format { source: text.clone(), language: clang::Language::OpenCl };
            let laid_out = ask(&self.clang, &layout)?;
            let text = laid_out.and_then(|answer| answer.text).unwrap_or(text);
            // A name that a declaration behind it has is not known in front of it, say.
            let again = ask(&self.clang, &parse(&text, false))?;
            let is_read = again.is_some_and(|answer| answer.first_error().is_none());
            Ok(is_read.then_some(KernelCandidate { rule: rule.name, exact: rule.exact, text }))
        };
        RULES.iter().filter_map(|rule| candidate(rule).transpose()).collect()
    }
}

fn parse(source: &str, tree: bool) -> Request {
    Request::Parse { source: source.into(), options: Options::opencl(), tree }
}

/// The program with all edits that do not touch what an earlier one does.
fn applied(source: &str, rule: &'static str, all: Vec<Pieces>) -> String {
    let mut edits: Vec<Edit> = Vec::new();
    for pieces in all {
        let edit = Edit { rule, io: false, pieces };
        if !edits.iter().any(|other| conflict(other, &edit)) {
            edits.push(edit);
        }
    }
    apply(source, &edits.iter().collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of a line, all but blanks at its ends.
    fn lines(text: &str) -> Vec<&str> {
        text.lines().map(str::trim).filter(|line| !line.is_empty()).collect()
    }

    /// Each case is a kernel; beside it stand the lines that each rule changes.
    #[test]
    fn each_rule_changes_what_it_says_and_leaves_the_rest() {
        let rewriter = KernelRewriter::start(1).unwrap_or_else(|error| panic!("{error}"));
        cases::beside("cases/kernel-rules", |_, kernel| {
            let mut found = String::new();
            for candidate in rewriter.candidates(kernel).expect("clang is here") {
                found += &format!("{}\n", candidate.rule);
                let before = lines(kernel);
                for line in lines(&candidate.text).into_iter().filter(|line| !before.contains(line))
                {
                    found += &format!("  {line}\n");
                }
            }
            found
        });
    }
}

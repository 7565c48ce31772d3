//! The share of a corpus that the constraint accepts, and what it refuses of the rest.
//!
//! ```sh
//! cargo run --release -p stampmill-lm --example accepts -- kernels                    # a data set of `prepare`
//! cargo run --release -p stampmill-lm --example accepts -- kernels models/infill      # with a checkpoint's tokenizer
//! cargo run --release -p stampmill-lm --example accepts -- kernels spelled            # every name letter by letter
//! ```

use dataset::{Dataset, Verdict};
use grammar::{Constraint, Grammar, Refusal, Useful, Useless};
use rayon::prelude::*;
use rows::KernelText;
use stampmill_lm::tokenizer::{Special, Syntax, Tokenizer, read};
use std::{collections::BTreeMap, env, path::Path, sync::Arc, time::Instant};

/// Read a kernel: the refusal and how far it was read.
fn refusal(grammar: &Arc<Grammar>, tokenizer: &Syntax, text: &str) -> Option<(Refusal, String)> {
    let mut constraint = Constraint::new(Arc::clone(grammar));
    let mut ids = tokenizer.encode_plain(text);
    ids.push(Special::ALL.end);
    for (at, id) in ids.iter().enumerate() {
        if let Err(refusal) = constraint.push(*id) {
            return Some((refusal, tokenizer.decode(&ids[..=at])));
        }
    }
    None
}

/// Read a kernel statement by statement: how many there are, and those that are said to do nothing.
fn useless(
    grammar: &Arc<Grammar>,
    tokenizer: &Syntax,
    text: &str,
) -> (usize, Vec<(Useless, String)>) {
    let (mut constraint, mut useful) = (Constraint::new(Arc::clone(grammar)), Useful::new());
    let (mut statement, mut count, mut refused) = (Vec::new(), 0, Vec::new());
    for id in tokenizer.encode_plain(text) {
        statement.push(id);
        if constraint.push(id).is_err() {
            break;
        }
        if constraint.at_statement() {
            count += 1;
            let lexemes = grammar.lexemes(&statement);
            let lexemes: Vec<&str> = lexemes.iter().map(String::as_str).collect();
            if let Err(why) = useful.read(&lexemes) {
                refused.push((why, lexemes.join(" ")));
                break;
            }
            statement.clear();
        }
    }
    (count, refused)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let corpus = arguments.first().ok_or("name a data set of kernels")?;
    let mut texts = Vec::new();
    for row in Dataset::open(Path::new(corpus))?.rows::<KernelText>()? {
        let row = row?;
        if row.verdict == Verdict::ACCEPTED {
            texts.push(row.text);
        }
    }
    let tokenizer = match arguments.get(1).map(String::as_str) {
        None => Syntax::learn(&[], texts.iter().map(String::as_str))?,
        Some("spelled") => Syntax::learn(&[], [])?,
        Some(checkpoint) => {
            let tokenizer = read(&Path::new(checkpoint).join("tokenizer.json"), "syntax")?;
            Syntax::new(tokenizer.vocabulary().clone())
        }
    };
    let grammar = Arc::new(tokenizer.grammar());
    let tokens: usize = texts.par_iter().map(|text| tokenizer.encode_plain(text).len()).sum();
    let began = Instant::now();
    let refused: Vec<(Refusal, String)> =
        texts.par_iter().filter_map(|text| refusal(&grammar, &tokenizer, text)).collect();
    let seconds = began.elapsed().as_secs_f64() * rayon::current_num_threads() as f64;
    let mut kinds: BTreeMap<Refusal, Vec<&str>> = BTreeMap::new();
    for (refusal, text) in &refused {
        kinds.entry(*refusal).or_default().push(text);
    }
    for (refusal, texts) in &kinds {
        println!("{refusal:?}: {}", texts.len());
        for text in texts.iter().take(arguments.get(2).and_then(|n| n.parse().ok()).unwrap_or(5)) {
            let from = text.char_indices().rev().nth(160).map_or(0, |(at, _)| at);
            println!("    …{}", text[from..].split_whitespace().collect::<Vec<_>>().join(" "));
        }
    }
    let accepted = texts.len() - refused.len();
    println!(
        "{accepted} of {} accepted ({:.2} %); {:.1} µs a token over {tokens} tokens",
        texts.len(),
        100.0 * accepted as f64 / texts.len().max(1) as f64,
        1e6 * seconds / tokens.max(1) as f64,
    );
    let read: Vec<_> = texts.par_iter().map(|text| useless(&grammar, &tokenizer, text)).collect();
    let statements: usize = read.iter().map(|(count, _)| count).sum();
    let mut kinds: BTreeMap<Useless, Vec<&str>> = BTreeMap::new();
    for (why, statement) in read.iter().flat_map(|(_, refused)| refused) {
        kinds.entry(*why).or_default().push(statement);
    }
    for (why, found) in &kinds {
        println!("{why:?}: {}", found.len());
        for statement in found.iter().take(5) {
            println!("    {statement}");
        }
    }
    let whole = read.iter().filter(|(_, refused)| refused.is_empty()).count();
    println!(
        "{whole} of {} do something throughout ({:.1} %); of {statements} statements up to the first that does not {} are refused",
        texts.len(),
        100.0 * whole as f64 / texts.len().max(1) as f64,
        kinds.values().map(Vec::len).sum::<usize>(),
    );
    Ok(())
}

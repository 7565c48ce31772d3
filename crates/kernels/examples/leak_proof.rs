//! How many changed copies of kernels the leak rule finds, and how often it takes a kernel for the copy of another that
//! has nothing to do with it. `scripts/leak.sh` runs it.
//!
//! usage: leak_proof choose KERNELS HALF > held.jsonl
//!        leak_proof measure KERNELS HALF VARIANTS.jsonl
//!        leak_proof against KERNELS EXCLUDED       which of the former are copies of one of the latter
//!
//! KERNELS is a data set of `prepare`, or JSON lines with `src` and `benchmark`. HALF is `tune`, kernels whose identity
//! begins with an even digit, `report`, the others without the families of the former's choice, or `small`, all of 40 to
//! 79 lexemes. Of the first two 60 kernels of 80 lexemes or more are held back, of the third as many: the first by
//! identity, one a family, nine a package at most. VARIANTS are what
//! `scripts/leak-variants.py` makes of them.

use dataset::{Dataset, Verdict};
use leak::{Known, Likeness, Print, likeness};
use serde::Deserialize;
use stampmill_kernels::{Judge, KernelRow, Printer};
use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    error::Error,
    fs,
    path::Path,
    sync::atomic::{AtomicUsize, Ordering},
};

const HELD: usize = 60;
const LEAST_LEXEMES: usize = 80;
const MOST_OF_A_PACKAGE: usize = 9;
/// Packages by the same people, who took kernels from one to the other.
const RELATED: [&[&str]; 1] = [&["pyFAI", "silx", "nabu"]];

#[derive(Clone, Debug, Default)]
struct Kernel {
    id: String,
    package: String,
    name: String,
    family: String,
    text: String,
}

#[derive(Debug, Deserialize)]
struct Variant {
    id: String,
    change: String,
    texts: Vec<String>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["choose", kernels, half] => {
            for kernel in choose(&load(Path::new(kernels))?, half) {
                println!("{}", serde_json::json!({ "id": kernel.id, "text": kernel.text }));
            }
            Ok(())
        }
        ["measure", kernels, half, variants] => {
            measure(&load(Path::new(kernels))?, half, &fs::read_to_string(variants)?)
        }
        ["against", kernels, excluded] => {
            against(&load(Path::new(kernels))?, &load(Path::new(excluded))?)
        }
        _ => Err("usage: leak_proof choose KERNELS HALF | measure KERNELS HALF VARIANTS | against KERNELS EXCLUDED".into()),
    }
}

/// The kernels by identity.
fn load(path: &Path) -> Result<Vec<Kernel>, Box<dyn Error>> {
    let mut all = Vec::new();
    if path.extension().is_some_and(|extension| extension == "jsonl") {
        for line in fs::read_to_string(path)?.lines() {
            let row: serde_json::Value = serde_json::from_str(line)?;
            let get = |key: &str| row[key].as_str().unwrap_or_default().to_owned();
            let (text, name) = (get("src"), get("benchmark"));
            let id = dataset::content_hash(text.as_bytes());
            // SUITE-VERSION-PROGRAM-KERNEL.
            let suite = name.find(|c: char| c.is_ascii_digit()).map_or("", |at| &name[..at]);
            let (package, family) = (suite.to_owned(), id.clone());
            all.push(Kernel { id, package, name, family, text });
        }
    } else {
        for row in Dataset::open(path)?.rows::<KernelRow>()? {
            let KernelRow { id, package, original_name, family, text, verdict, .. } = row?;
            if verdict == Verdict::ACCEPTED {
                all.push(Kernel { id, package, name: original_name, family, text });
            }
        }
    }
    all.sort_by(|a, b| a.id.cmp(&b.id));
    all.dedup_by(|a, b| a.id == b.id);
    Ok(all)
}

fn choose<'a>(all: &'a [Kernel], half: &str) -> Vec<&'a Kernel> {
    let mut families: BTreeSet<&str> = match half {
        "tune" | "small" => BTreeSet::new(),
        _ => choose(all, "tune").iter().map(|kernel| kernel.family.as_str()).collect(),
    };
    let mut packages: BTreeMap<&str, usize> = BTreeMap::new();
    let sizes =
        if half == "small" { LEAST_LEXEMES / 2..LEAST_LEXEMES } else { LEAST_LEXEMES..usize::MAX };
    let is_even = |kernel: &Kernel| {
        kernel
            .id
            .chars()
            .next()
            .and_then(|digit| digit.to_digit(16))
            .is_some_and(|digit| digit % 2 == 0)
    };
    let mut chosen = Vec::new();
    let is_of_half = |kernel: &&Kernel| half == "small" || is_even(kernel) == (half == "tune");
    for kernel in all.iter().filter(is_of_half) {
        let of_package = packages.entry(&kernel.package).or_default();
        if chosen.len() == HELD
            || *of_package == MOST_OF_A_PACKAGE
            || !sizes.contains(&lexer::tokens(&kernel.text).count())
            || !families.insert(&kernel.family)
        {
            continue;
        }
        *of_package += 1;
        chosen.push(kernel);
    }
    chosen
}

/// Which kernels the rule excludes where others are excluded, names aside.
fn against(all: &[Kernel], excluded: &[Kernel]) -> Result<(), Box<dyn Error>> {
    let jobs = std::thread::available_parallelism().map_or(1, usize::from);
    let printer = Printer::start(jobs)?;
    let mut known = Known::default();
    for (kernel, printed) in
        excluded.iter().zip(in_parallel(excluded, jobs, |kernel| printer.file(&kernel.text)))
    {
        printed?.into_iter().for_each(|one| known.add(&kernel.name, one.print));
    }
    let prints = in_parallel(all, jobs, |kernel| printer.isolated(&kernel.text));
    let prints: Vec<Print> = prints.into_iter().collect::<Result<_, _>>()?;
    let mut copies = 0;
    for (kernel, print) in all.iter().zip(&prints) {
        if let Some(found) = known.copied(print) {
            copies += 1;
            println!("{} {} ({}): {found:?}", kernel.package, kernel.name, kernel.id);
        }
    }
    println!("{copies} of {} are copies of one of {}", all.len(), excluded.len());
    Ok(())
}

/// What became of one variant.
enum Came {
    Found(Likeness),
    Missed(Likeness),
    /// No way of making it compiles; or nothing is left of the kernel in it.
    Without(String),
}

fn measure(all: &[Kernel], half: &str, variants: &str) -> Result<(), Box<dyn Error>> {
    let jobs = std::thread::available_parallelism().map_or(1, usize::from);
    let printer = Printer::start(jobs)?;
    let judge = Judge::new(clang::Clang::start(jobs)?);
    let held = choose(all, half);
    let originals = in_parallel(&held, jobs, |kernel| printer.file(&kernel.text));
    let mut excluded: HashMap<&str, Print> = HashMap::new();
    for (kernel, printed) in held.iter().zip(originals) {
        excluded.insert(&kernel.id, printed?.pop().expect("one at least").print);
    }
    let variants: Vec<Variant> =
        variants.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
    let came = in_parallel(&variants, jobs, |variant| {
        let mut first = None;
        for text in &variant.texts {
            match judge.check(text) {
                Ok(_) => {
                    let original = &excluded[variant.id.as_str()];
                    let Ok(printed) = printer.kernels(text) else { break };
                    let best = printed.iter().map(|one| likeness(&one.print, original));
                    let best =
                        best.max_by_key(|one| (one.is_copy(), (one.greatest() * 1e6) as u64));
                    let best = best.unwrap_or_default();
                    return if best.is_copy() { Came::Found(best) } else { Came::Missed(best) };
                }
                Err(verdict) => {
                    first.get_or_insert(verdict.name.into_owned());
                }
            }
        }
        Came::Without(first.unwrap_or_else(|| "no clang".to_owned()))
    });
    recall(&variants, &came);
    alarms(all, &held, &excluded, &printer, jobs)
}

fn recall(variants: &[Variant], came: &[Came]) {
    let mut rows: BTreeMap<&str, [usize; 5]> = BTreeMap::new();
    for (variant, came) in variants.iter().zip(came) {
        for name in [variant.change.as_str(), "all"] {
            let row = rows.entry(name).or_default();
            match came {
                Came::Found(likeness) => {
                    row[0] += 1;
                    row[3] += usize::from(likeness.is_copy_in_text());
                    row[4] += usize::from(!likeness.is_copy_in_text());
                }
                Came::Missed(_) => row[1] += 1,
                Came::Without(_) => row[2] += 1,
            }
        }
    }
    println!(
        "| change | variants that compile | found | recall | by text | by IR alone | do not compile |"
    );
    println!("|---|--:|--:|--:|--:|--:|--:|");
    let last = rows.remove("all").into_iter().map(|row| ("**all**", row));
    for (name, [found, missed, without, text, ir]) in rows.into_iter().chain(last) {
        let share = 100.0 * found as f64 / (found + missed).max(1) as f64;
        println!(
            "| {name} | {} | {found} | {share:.1} % | {text} | {ir} | {without} |",
            found + missed
        );
    }
    println!();
    for (variant, came) in variants.iter().zip(came) {
        match came {
            Came::Missed(likeness) => println!(
                "missed: {} of {}: text {:.2} {:.2} of {}, IR {:.2} {:.2} of {}",
                variant.change,
                variant.id,
                likeness.text.jaccard,
                likeness.text.containment,
                likeness.text.smaller,
                likeness.ir.jaccard,
                likeness.ir.containment,
                likeness.ir.smaller
            ),
            Came::Without(verdict) => {
                println!("without: {} of {}: {verdict}", variant.change, variant.id)
            }
            Came::Found(_) => {}
        }
    }
}

fn is_related(one: &str, two: &str) -> bool {
    one == two || RELATED.iter().any(|group| group.contains(&one) && group.contains(&two))
}

fn alarms(
    all: &[Kernel],
    held: &[&Kernel],
    excluded: &HashMap<&str, Print>,
    printer: &Printer,
    jobs: usize,
) -> Result<(), Box<dyn Error>> {
    let prints = in_parallel(all, jobs, |kernel| printer.isolated(&kernel.text));
    let prints: Vec<Print> = prints.into_iter().collect::<Result<_, _>>()?;
    let (mut pairs, mut false_pairs, mut strangers) = (0_usize, 0_usize, BTreeSet::new());
    let (mut plenty, mut alarmed) = (0_usize, 0_usize);
    for (kernel, print) in all.iter().zip(&prints) {
        let mut is_alarmed = false;
        for other in held {
            if is_related(&kernel.package, &other.package) || kernel.family == other.family {
                continue;
            }
            strangers.insert(kernel.id.as_str());
            pairs += 1;
            let found = likeness(print, &excluded[other.id.as_str()]);
            if found.is_copy() {
                false_pairs += 1;
                is_alarmed = true;
                println!(
                    "alarm: {} {} ({}) like {} {} ({}): text {:.2} {:.2} of {}, IR {:.2} {:.2} of {}",
                    kernel.package,
                    kernel.name,
                    kernel.id,
                    other.package,
                    other.name,
                    other.id,
                    found.text.jaccard,
                    found.text.containment,
                    found.text.smaller,
                    found.ir.jaccard,
                    found.ir.containment,
                    found.ir.smaller
                );
            }
        }
        let is_large = lexer::tokens(&kernel.text).count() >= LEAST_LEXEMES;
        plenty += usize::from(is_large);
        alarmed += usize::from(is_alarmed);
    }
    println!();
    println!("held back: {} kernels of {} packages", held.len(), packages(held));
    println!(
        "false alarms: {false_pairs} of {pairs} pairs of kernels of unrelated packages ({:.4} %)",
        100.0 * false_pairs as f64 / pairs.max(1) as f64
    );
    println!(
        "kernels with an alarm: {alarmed} of {} ({:.2} %); {plenty} of all have {LEAST_LEXEMES} lexemes or more",
        strangers.len(),
        100.0 * alarmed as f64 / strangers.len().max(1) as f64
    );
    Ok(())
}

fn packages(held: &[&Kernel]) -> usize {
    held.iter().map(|kernel| &kernel.package).collect::<BTreeSet<_>>().len()
}

/// `work` done with each item, in the items' order.
fn in_parallel<T: Sync, R: Send>(
    items: &[T],
    jobs: usize,
    work: impl Fn(&T) -> R + Sync,
) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let mut done: Vec<(usize, R)> = std::thread::scope(|scope| {
        let one = || {
            let mut done = Vec::new();
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(item) = items.get(at) else { return done };
                done.push((at, work(item)));
            }
        };
        let threads: Vec<_> = (0..jobs).map(|_| scope.spawn(one)).collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("no thread panics")).collect()
    });
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, result)| result).collect()
}

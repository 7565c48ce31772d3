//! Hold the reader of crate `bitcode` to LLVM's: on every module of data sets, or every `.bc` file of folders.
//!
//! `cargo run --release -p stampmill-ir --example readers [--passes PIPELINE]... PLACE...`
//!
//! Each module is read by both as it is, and once more as LLVM writes it after each pipeline. Of each it is said whether
//! structures and names of source files are equal, or why it is left to LLVM; those that LLVM's verifier rejects are
//! counted too. Exit status 1 where anything differs.

use dataset::Dataset;
use llvm::{Context, Library};
use stampmill_ir::{Module, structure, structure_of};
use std::{collections::BTreeMap, error::Error, fs, path::Path, process::ExitCode};
use walkdir::WalkDir;

#[derive(Default)]
struct Counts {
    modules: u64,
    bytes: u64,
    equal: u64,
    different: u64,
    /// Read here, and rejected by LLVM's reader or verifier.
    accepted_wrongly: u64,
    /// Neither reads them.
    broken: u64,
    left: BTreeMap<String, u64>,
}

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let mut pipelines = Vec::new();
    let mut places = Vec::new();
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--passes" => pipelines.push(words.next().ok_or("--passes takes a pipeline")?),
            _ => places.push(word),
        }
    }
    let library = Library::newest()?;
    println!("LLVM {}", library.version());
    let mut counts = Counts::default();
    for place in &places {
        let place = Path::new(place);
        let mut one =
            |name: &str, content: &[u8]| compare(library, name, content, &pipelines, &mut counts);
        if Dataset::is_at(place) {
            for row in Dataset::open(place)?.rows::<Module>()? {
                let row = row?;
                if !row.content.is_empty() {
                    one(&row.path, &row.content);
                }
            }
            continue;
        }
        for entry in WalkDir::new(place).sort_by_file_name() {
            let entry = entry?;
            if entry.path().extension().is_some_and(|extension| extension == "bc") {
                one(&entry.path().display().to_string(), &fs::read(entry.path())?);
            }
        }
    }
    let Counts { modules, bytes, equal, different, accepted_wrongly, broken, left } = counts;
    println!(
        "{modules} modules, {:.1} MB: {equal} equal, {different} different",
        bytes as f64 / 1e6
    );
    println!("{accepted_wrongly} read that LLVM rejects, {broken} that neither reads");
    println!("{} left to LLVM:", left.values().sum::<u64>());
    for (why, count) in left {
        println!("{count:8} {why}");
    }
    Ok(ExitCode::from(u8::from(different + accepted_wrongly > 0)))
}

fn compare(
    library: &'static Library,
    name: &str,
    content: &[u8],
    pipelines: &[String],
    counts: &mut Counts,
) {
    let context = Context::new(library);
    let read = context.parse("module", content);
    held(library, name, content, read.as_ref().ok(), counts);
    let Ok(module) = read else { return };
    for pipeline in pipelines {
        let mut copy = module.clone();
        if copy.run_passes(pipeline).is_err() {
            continue;
        }
        let content = copy.write();
        let context = Context::new(library);
        held(library, name, &content, context.parse("module", &content).as_ref().ok(), counts);
    }
}

fn held(
    library: &'static Library,
    name: &str,
    content: &[u8],
    module: Option<&llvm::Module<'_>>,
    counts: &mut Counts,
) {
    counts.modules += 1;
    counts.bytes += content.len() as u64;
    match (structure_of(library, content), module) {
        (Ok((found, source)), Some(module)) => {
            if found == structure(module) && source == module.source_file_name() {
                counts.equal += 1;
            } else {
                counts.different += 1;
                println!("different: {name}");
            }
            if let Err(error) = module.verify() {
                counts.accepted_wrongly += 1;
                println!("rejected: {name}: {error}");
            }
        }
        (Ok(_), None) => {
            counts.accepted_wrongly += 1;
            println!("not read by LLVM: {name}");
        }
        (Err(why), Some(_)) => *counts.left.entry(why.to_string()).or_default() += 1,
        (Err(_), None) => counts.broken += 1,
    }
}

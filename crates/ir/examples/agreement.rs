//! How far our structural hash agrees with LLVM's own, on the modules of a data set.
//!
//! `cargo run --release -p stampmill-ir --example agreement DATASET` runs LLVM's `print<structural-hash>`
//! with `detailed` on every module, in a process of its own because the pass prints, and compares
//! the equivalence classes of both: which pairs of modules, and of functions, they call equal.

use dataset::Dataset;
use llvm::{Context, Library};
use stampmill_ir::Module;
use std::{
    collections::{BTreeMap, HashMap},
    error::Error,
    fs,
    path::Path,
    process::Command,
};

const CHILD: &str = "--print-hash";
const PASS: &str = "print<structural-hash><detailed>";

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    match arguments.as_slice() {
        [_, flag, path] if flag == CHILD => print_hash(Path::new(path)),
        [_, path] => compare(Path::new(path)),
        _ => Err("usage: agreement DATASET".into()),
    }
}

/// Have LLVM print its hashes on standard error.
fn print_hash(path: &Path) -> Result<(), Box<dyn Error>> {
    let content = fs::read(path)?;
    let context = Context::new(Library::newest()?);
    let mut module = context.parse("module", &content)?;
    module.run_passes(PASS)?;
    Ok(())
}

fn compare(folder: &Path) -> Result<(), Box<dyn Error>> {
    let scratch = tempfile::tempdir()?;
    let file = scratch.path().join("module.bc");
    let mut modules = Vec::new();
    let mut functions = 0_u64;
    let mut theirs_of_functions: HashMap<String, u64> = HashMap::new();
    let mut ours_of_functions: HashMap<u64, u64> = HashMap::new();
    for row in Dataset::open(folder)?.rows::<Module>()? {
        let row = row?;
        let is_module = row.verdict == "accepted" && !row.content.is_empty();
        if !is_module {
            continue;
        }
        fs::write(&file, &row.content)?;
        let output = Command::new(std::env::current_exe()?).arg(CHILD).arg(&file).output()?;
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let hash = said.lines().find_map(|line| line.strip_prefix("Module Hash: "));
        let hash = hash.ok_or_else(|| format!("no hash for {}: {said}", row.path))?.to_owned();
        for line in said.lines().filter_map(|line| line.strip_prefix("Function ")) {
            let hash = line.rsplit_once("Hash: ").map_or("", |(_, hash)| hash);
            *theirs_of_functions.entry(hash.to_owned()).or_default() += 1;
            functions += 1;
        }
        for hash in &row.function_structures {
            *ours_of_functions.entry(*hash).or_default() += 1;
        }
        modules.push((row.structure, hash, row.path));
    }
    let mut ours: BTreeMap<&str, u64> = BTreeMap::new();
    let mut theirs: BTreeMap<&str, u64> = BTreeMap::new();
    let mut both: BTreeMap<(&str, &str), u64> = BTreeMap::new();
    for (our, their, _) in &modules {
        *ours.entry(our).or_default() += 1;
        *theirs.entry(their).or_default() += 1;
        *both.entry((our, their)).or_default() += 1;
    }
    let pairs =
        |counts: &mut dyn Iterator<Item = u64>| counts.map(|n| n * (n - 1) / 2).sum::<u64>();
    let (our_pairs, their_pairs, shared) = (
        pairs(&mut ours.values().copied()),
        pairs(&mut theirs.values().copied()),
        pairs(&mut both.values().copied()),
    );
    println!(
        "{} modules: {} classes of ours, {} of LLVM's",
        modules.len(),
        ours.len(),
        theirs.len()
    );
    println!("equal pairs of modules: ours {our_pairs}, LLVM's {their_pairs}, both {shared}");
    println!(
        "{functions} functions: {} classes of ours, {} of LLVM's",
        ours_of_functions.len(),
        theirs_of_functions.len()
    );
    for (our, their, path) in &modules {
        let apart = ours[our.as_str()] != theirs[their.as_str()];
        if apart {
            println!(
                "  not alike: {path} (class of {} here, of {} there)",
                ours[our.as_str()],
                theirs[their.as_str()]
            );
        }
    }
    Ok(())
}

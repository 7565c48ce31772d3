//! Give a checkpoint that was trained before checkpoints said so the identity of its training set: the kernels of a data
//! set, where its `seen.safetensors` holds all of them and nothing else.
//!
//! usage: training_set CHECKPOINT KERNELS

use dataset::{Dataset, Verdict};
use rows::KernelText;
use stampmill_lm::{Seen, TrainingSet};
use std::{collections::BTreeSet, error::Error, path::Path};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [checkpoint, kernels] = &arguments[..] else {
        return Err("usage: training_set CHECKPOINT KERNELS".into());
    };
    let rows = Dataset::open(Path::new(kernels))?.rows::<KernelText>()?;
    let rows: Vec<KernelText> = rows.collect::<Result<_, _>>()?;
    let accepted = || rows.iter().filter(|row| row.verdict == Verdict::ACCEPTED);
    let seen = Seen::read(Path::new(checkpoint))?;
    let texts: BTreeSet<&str> = accepted().map(|row| row.text.as_str()).collect();
    let known = texts.iter().filter(|text| seen.holds(text)).count();
    println!("{known} of {} kernels were seen, of {} that were", texts.len(), seen.len());
    if known != texts.len() || known != seen.len() {
        return Err("that is not what the checkpoint was trained on".into());
    }
    let named = accepted().map(|row| (row.original_name.as_str(), row.text.as_str()));
    TrainingSet::of(named).write(Path::new(checkpoint))?;
    Ok(())
}

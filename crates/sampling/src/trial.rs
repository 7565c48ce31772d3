//! What becomes of certain texts in the hole of a prompt, for tests.

use crate::{SampleRow, Sampler, Settings};
use dataset::{Silent, stage::Cancel};
use lm::{Checkpoint, Drawing, Prompt, tokenizer::Special};
use std::path::Path;

/// The samples that have these fills, in their order, as they are judged.
pub(crate) fn of_fills(fills: &[&str], prompt: Prompt, drawing: Drawing) -> Vec<SampleRow> {
    let checkpoint =
        Checkpoint::load(Path::new("../../models/infill")).expect("the model that ships");
    let folder = tempfile::tempdir().expect("a folder");
    let drawn = folder.path().join("ids.jsonl");
    let ids = |text: &&str| {
        let mut ids = checkpoint.tokenizer().encode_plain(text);
        ids.push(Special::ALL.end);
        serde_json::to_string(&ids).expect("JSON")
    };
    let lines: Vec<String> = fills.iter().map(ids).collect();
    std::fs::write(&drawn, lines.join("\n")).expect("is written");
    let settings = Settings {
        prompt,
        drawing,
        samples: fills.len() as u64,
        tries: 1,
        device: None,
        drawn: Some(drawn),
        normalise: true,
        novel: false,
        most_bits: None,
        must_run: false,
    };
    let sampler = Sampler::new(&checkpoint, settings, 1, &Cancel::default())
        .unwrap_or_else(|error| panic!("{error}"));
    sampler.sample(&Silent).expect("are judged")
}

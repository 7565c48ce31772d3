//! Sampling as a stage: chunks of numbers come in, judged samples go out.

use crate::{Error, Result, SampleRow, Sampler, Summary, drawn::Reader, summary::Marker};
use dataset::{
    Input, Row, Silent, content_hash_of, content_hash_of_file,
    stage::{Finish, Items, Selected, Stage, Unit, Units, Worked},
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::{collections::BTreeSet, fs, path::Path};

/// Samples of a chunk, which is what a stop costs at most: on a processor some 30 s of work (the last samples of a chunk are drawn
/// while the room of those that are done stays empty, which costs 6 % here), elsewhere so many times what is drawn side by side.
const CHUNK: u64 = 64;
/// The same on a processor where samples may be drawn anew: each takes several times as long.
const SMALL_CHUNK: u64 = 8;
/// The same where features are wanted, which most tries may not have: all tries of a sample may be needed.
const WANTED_CHUNK: u64 = 4;
const ROUNDS: u64 = 8;

/// The files of a checkpoint that shape samples, beside those with weights.
const SHAPING: [&str; 3] = ["config.json", "tokenizer.json", "model.safetensors.index.json"];

/// Numbers of samples that are drawn together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chunk {
    /// The first.
    pub first: u64,
    /// One more than the last.
    pub end: u64,
}

impl Row for Chunk {
    const SCHEMA: &'static str = "sample-chunk";
    const VERSION: u32 = 1;
}

impl Stage for Sampler<'_> {
    const NAME: &'static str = "sample";
    const UNITS: &'static str = "chunks of samples";
    type Item = Chunk;
    type Row = SampleRow;
    type Facts = ();
    type Summary = Summary;
    type Worker = Reader;
    type Error = Error;

    fn settings(&self) -> Value {
        json!({
            "checkpoint": self.checkpoint.folder().display().to_string(),
            "drawing": serde_json::to_value(&self.settings).unwrap_or_default(),
        })
    }

    fn seed(&self) -> u64 {
        self.settings.drawing.seed
    }

    fn inputs(&self) -> Result<Vec<Input>> {
        if let Some(inputs) = self.inputs.get() {
            return Ok(inputs.clone());
        }
        let hash = identity(self.checkpoint.folder())?;
        let mut inputs = vec![Input { name: "checkpoint".into(), hash }];
        if let Some(path) = &self.settings.drawn {
            inputs.push(Input { name: "drawn".into(), hash: hash_of(path)? });
        }
        Ok(self.inputs.get_or_init(|| inputs).clone())
    }

    fn items(&self) -> Result<Items<'_, Self>> {
        let samples = self.settings.samples;
        let size = match self.settings.device {
            None if self.draws_anew() && self.asks_for_features() => WANTED_CHUNK,
            None if self.draws_anew() => SMALL_CHUNK,
            None => CHUNK,
            Some(_) => CHUNK.max(ROUNDS * self.settings.drawing.slots as u64),
        };
        let count = samples.div_ceil(size);
        let chunk = move |number: u64| {
            let first = number * size;
            Ok(Chunk { first, end: first.saturating_add(size).min(samples) })
        };
        Ok(Items { total: Some(count), all: Box::new((0..count).map(chunk)) })
    }

    fn key(&self, chunk: &Chunk) -> String {
        format!("{}..{}", chunk.first, chunk.end)
    }

    /// Drawing and judging use all threads by themselves.
    fn threads(&self, _jobs: usize) -> usize {
        1
    }

    fn worker(&self) -> Result<Reader> {
        Ok(Reader::default())
    }

    fn work(&self, reader: &mut Reader, chunks: &[Chunk]) -> Result<Vec<Worked<SampleRow>>> {
        let rows =
            |chunk: &Chunk| self.judged(reader, chunk.first..chunk.end, &Silent).map(Worked::Rows);
        chunks.iter().map(rows).collect()
    }

    fn is_fault(error: &Error) -> bool {
        match error {
            Error::Clang(error) => error.is_fault(),
            Error::Check(_) => true,
            _ => false,
        }
    }

    fn finish<'a>(
        _settings: &'a Value,
        (): (),
        units: &'a Units<SampleRow>,
    ) -> Result<Finish<'a, SampleRow, Summary>> {
        let mut marker = Marker::default();
        for row in units.rows() {
            let (_, mut row) = row?;
            marker.mark(&mut row);
        }
        let summary = marker.summary();
        let mut marker = Marker::default();
        let select = move |_: &Unit, mut row: SampleRow| {
            marker.mark(&mut row);
            Selected::Row(row)
        };
        let verdicts = summary.verdicts.clone();
        Ok(Finish { select: Box::new(select), ..Finish::all(verdicts, summary) })
    }
}

/// What a checkpoint is known by: the files that shape its samples.
fn identity(folder: &Path) -> Result<String> {
    let failed = |source| Error::File { path: folder.to_owned(), source };
    let mut names = BTreeSet::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let name = entry.map_err(failed)?.file_name();
        if Path::new(&name).extension().is_some_and(|extension| extension == "safetensors")
            || SHAPING.iter().any(|shaping| name == *shaping)
        {
            names.insert(name);
        }
    }
    let mut pieces: Vec<Vec<u8>> = Vec::new();
    for name in names {
        pieces.push(name.as_encoded_bytes().to_vec());
        pieces.push(hash_of(&folder.join(name))?.into_bytes());
    }
    Ok(content_hash_of(pieces.iter().map(Vec::as_slice)))
}

fn hash_of(path: &Path) -> Result<String> {
    let hashed = content_hash_of_file(path);
    let (_, hash) = hashed.map_err(|source| Error::File { path: path.to_owned(), source })?;
    Ok(hash)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Settings;
    use dataset::{
        Dataset,
        stage::{self, Cancel, Context, Share},
    };
    use lm::{Checkpoint, Drawing, Prompt, tokenizer::Special};
    use std::path::PathBuf;

    const KERNEL: &str =
        "A(global float* a) { int i = get_global_id(0); a[i] = a[i] * 2.0f + a[0]; }";

    #[test]
    fn chunks_are_small_where_samples_may_be_drawn_anew() {
        let checkpoint =
            Checkpoint::load(Path::new("../../models/infill")).expect("the model that ships");
        let settings = Settings {
            prompt: Prompt::new(lm::START),
            drawing: Drawing::default(),
            samples: 70,
            tries: 8,
            device: None,
            drawn: None,
            normalise: true,
            novel: false,
            most_bits: None,
            must_run: true,
        };
        let sizes = |sampler: &Sampler<'_>| -> Vec<u64> {
            let items = sampler.items().expect("they are counted");
            let chunks = items.all.map(|chunk| chunk.expect("a chunk"));
            chunks.map(|chunk| chunk.end - chunk.first).collect()
        };
        let check = |_: &str| Ok::<Option<String>, String>(None);
        let sampler = |settings| {
            Sampler::new(&checkpoint, settings, 1, &Cancel::default())
                .unwrap_or_else(|error| panic!("{error}"))
        };
        assert_eq!(sizes(&sampler(settings.clone())), [64, 6]);
        let checked = sampler(settings.clone()).checked_by(&check);
        assert_eq!(sizes(&checked), [8, 8, 8, 8, 8, 8, 8, 8, 6]);
        let mut wanted = settings;
        wanted.prompt.features.insert("mem".to_owned(), 8.0);
        let of_wanted = sizes(&sampler(wanted).checked_by(&check));
        assert_eq!((of_wanted.len(), &of_wanted[15..]), (18, &[4, 4, 2][..]));
    }

    #[test]
    fn three_parts_merged_are_the_whole_with_duplicates_of_other_chunks() {
        // Not `env!`: a build folder may serve several checkouts. Cargo runs tests in the crate's folder.
        let checkpoint =
            Checkpoint::load(Path::new("../../models/infill")).expect("the model that ships");
        let folder = tempfile::tempdir().expect("a folder");
        let drawn = folder.path().join("ids.jsonl");
        let mut kernel = checkpoint.tokenizer().encode_plain(KERNEL);
        kernel.push(Special::ALL.end);
        // The others have no end, and are not compiled.
        let line =
            |number: u64| if number.is_multiple_of(1000) { json!(kernel) } else { json!([20]) };
        let lines: Vec<String> = (0..2100).map(|number| line(number).to_string()).collect();
        fs::write(&drawn, lines.join("\n")).expect("is written");
        let settings = Settings {
            prompt: Prompt::new(lm::START),
            drawing: Drawing { slots: 3, ..Drawing::default() },
            samples: 2100,
            tries: 1,
            device: None,
            drawn: Some(drawn),
            normalise: true,
            novel: false,
            most_bits: None,
            must_run: false,
        };
        let sampler = Sampler::new(&checkpoint, settings, 2, &Cancel::default())
            .unwrap_or_else(|error| panic!("{error}"));
        let rows = |out: &Path| -> Vec<SampleRow> {
            let rows = Dataset::open(out).expect("there").rows().expect("samples");
            rows.collect::<dataset::Result<_>>().expect("whole")
        };
        let whole = Context::new(folder.path().join("whole"));
        let done = stage::run(&sampler, &whole).expect("done");
        let of_whole = rows(&whole.out);
        let numbers: Vec<u64> = of_whole.iter().map(|row| row.number).collect();
        assert_eq!(numbers, (0..2100).collect::<Vec<_>>());
        assert_eq!(of_whole[0].verdict, "accepted", "{:?}", of_whole[0]);
        for number in [1000, 2000] {
            assert_eq!((&*of_whole[number].verdict, &*of_whole[number].detail), ("duplicate", "0"));
        }
        assert_eq!(done.summary, Summary::of(&of_whole));
        let part = |index: u32| -> PathBuf {
            let share = Some(Share { index, count: 3 });
            let context = Context { share, ..Context::new(folder.path().join(index.to_string())) };
            stage::run(&sampler, &context).expect("done");
            context.out
        };
        let parts: Vec<PathBuf> = (1..=3).map(part).collect();
        let merged = Context::new(folder.path().join("merged"));
        let joined = stage::merge::<Sampler<'_>>(&parts, &merged).expect("merged");
        assert_eq!(joined.summary, done.summary);
        assert_eq!(rows(&merged.out), of_whole);
    }
}

//! Samples that the libtorch engine drew elsewhere: a file with one JSON list of ids a line.

use crate::{Error, Result};
use lm::{Checkpoint, Prompt, Sample, tokenizer::Special};
use std::{
    fs::File,
    io::{BufRead, BufReader, Lines},
    ops::Range,
    path::Path,
};

/// Reads such a file, forwards as long as numbers ascend.
#[derive(Debug, Default)]
pub struct Reader {
    lines: Option<Lines<BufReader<File>>>,
    /// Number of the line that is read next.
    next: u64,
}

impl Reader {
    /// Tell the samples `numbers` of the file at `path`, as `stampmill-torch sample` wrote it, until
    /// `done` answers `false`.
    ///
    /// # Errors
    /// When the file cannot be read, or a line is no list of ids.
    pub(crate) fn read(
        &mut self,
        path: &Path,
        checkpoint: &Checkpoint,
        prompt: &Prompt,
        numbers: Range<u64>,
        done: &mut dyn FnMut(Sample) -> bool,
    ) -> Result<()> {
        let failed = |source| Error::File { path: path.to_owned(), source };
        let (before, after) = prompt.text.split_once(lm::HOLE).unwrap_or((&prompt.text, ""));
        let tokenizer = checkpoint.tokenizer();
        let [before, after] = [before, after].map(|text| checkpoint.encode_prompt(text));
        let special = Special::ALL;
        if self.next > numbers.start {
            *self = Reader::default();
        }
        let lines = match &mut self.lines {
            Some(lines) => lines,
            none => none.insert(BufReader::new(File::open(path).map_err(failed)?).lines()),
        };
        while self.next < numbers.end
            && let Some(line) = lines.next()
        {
            let (line, number) = (line.map_err(failed)?, self.next);
            self.next += 1;
            if number < numbers.start {
                continue;
            }
            let ids: Vec<u16> = serde_json::from_str(&line).map_err(|source| Error::Ids {
                path: path.to_owned(),
                line: number + 1,
                source,
            })?;
            let ended = ids.last().is_some_and(|id| *id == special.end || *id == special.hole_end);
            let tokens = ids.len();
            let text = tokenizer.decode(&[&before[..], &ids, &after].concat());
            if !done(Sample { number, text, tokens, ended, closed: false, refused: 0 }) {
                break;
            }
        }
        Ok(())
    }
}

//! `stampmill-torch decode`: logits for a program that draws tokens itself, through pipes.
//!
//! The first line of the output is JSON: `slots`, `groups`, `length`, `vocabulary`, `half`, `ranked`. After it both sides
//! speak in little-endian numbers of 32 bits. A request is a count and so many quadruples of a slot, how many of its tokens
//! stand before the next, that token, and a key of chance: what the slot has read behind its place is forgotten. The answer
//! is the logits of what comes next, a row for each quadruple: bf16 where `half` says so, f32 otherwise. With `ranked` it is
//! so many tokens instead, those of the largest noisy logits, the largest first (`rank.rs`). Requests are answered in their
//! order. All slots of a request are of one group (equal parts of the slots, in order), so that the other side can look
//! at one group's answer while the other group is read.

use crate::{
    device,
    model::{self, Advance, Decoder, Run},
    rank::Ranking,
};
use anyhow::{Context, bail, ensure};
use std::{
    io::{ErrorKind, Read, Write},
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    path::PathBuf,
    sync::mpsc::{Receiver, sync_channel},
};
use tch::{Device, Kind as Number, Tensor};

/// Logits of sequences that grow by tokens from the standard input.
#[derive(clap::Args, Debug)]
pub(crate) struct Decode {
    /// A checkpoint folder
    folder: PathBuf,
    /// Sequences side by side
    #[arg(long, default_value_t = 1024)]
    slots: usize,
    /// Parts of these that are read one after the other
    #[arg(long, default_value_t = 2)]
    groups: usize,
    /// Most tokens of a sequence
    #[arg(long, default_value_t = 1024)]
    length: usize,
    /// Answer with this many tokens drawn without replacement instead of logits; 0 answers logits
    #[arg(long, default_value_t = 0)]
    ranked: usize,
    /// Divides the logits of what is drawn
    #[arg(long, default_value_t = 1.0)]
    temperature: f64,
    /// `cpu`, `cuda` or `auto`
    #[arg(long, default_value = "auto")]
    device: String,
    /// `bf16` or `f32`
    #[arg(long)]
    precision: Option<String>,
}

/// Slots that are read together.
struct Group {
    decoder: Box<dyn Decoder>,
    /// Tokens that each slot has read.
    lengths: Vec<usize>,
    /// The decoder's row of each slot.
    rows: Vec<usize>,
    /// Rows that are read, the first so many: at the end of a run few slots are still asked for.
    width: usize,
}

impl Decode {
    pub(crate) fn run(&self) -> anyhow::Result<()> {
        ensure!(
            self.groups > 0 && self.slots > 0 && self.slots.is_multiple_of(self.groups),
            "{} slots are no equal parts of {} groups",
            self.slots,
            self.groups
        );
        ensure!(
            self.ranked == 0 || self.temperature > 0.0,
            "nothing is drawn at a temperature of {}",
            self.temperature
        );
        // What is read here is what libtorch's own message says, not where it was thrown.
        std::panic::set_hook(Box::new(|_| {}));
        match catch_unwind(AssertUnwindSafe(|| self.serve())) {
            Ok(done) => done,
            Err(panic) if device::says_no_memory(&*panic) => bail!(
                "out of memory with {} slots of {} tokens: fewer of either need less",
                self.slots,
                self.length
            ),
            Err(panic) => {
                let text = panic.downcast_ref::<String>().map(String::as_str);
                bail!("libtorch failed: {}", text.unwrap_or("it says no more"))
            }
        }
    }

    fn serve(&self) -> anyhow::Result<()> {
        let device = device::choose(&self.device)?;
        let half = device::half(self.precision.as_deref(), device)?;
        let _no_grad = tch::no_grad_guard();
        let model = model::load(&self.folder, device)?;
        let config = model::configuration(&self.folder)?;
        let vocabulary = config["vocab_size"].as_u64().context("config.json has no vocab_size")?;
        let positions = config["max_position_embeddings"].as_u64();
        let length = positions.map_or(self.length, |most| self.length.min(most as usize));
        let run = Run { half };
        let rows = self.slots / self.groups;
        let group = |_| {
            let decoder = model.decoder(rows as i64, length as i64, run);
            let decoder = decoder.context("this kind has no cached decoding")?;
            Ok(Group { decoder, lengths: vec![0; rows], rows: (0..rows).collect(), width: rows })
        };
        let mut groups = (0..self.groups).map(group).collect::<anyhow::Result<Vec<_>>>()?;
        let ranked = self.ranked.min(vocabulary as usize);
        let ranking =
            (ranked > 0).then(|| Ranking::new(vocabulary, ranked, self.temperature, device));
        let header = serde_json::json!({
            "slots": self.slots, "groups": self.groups, "length": length,
            "vocabulary": vocabulary, "half": half, "ranked": ranked,
        });
        let mut output = std::io::stdout();
        writeln!(output, "{header}").and_then(|()| output.flush())?;
        let (give, take) = sync_channel(self.groups);
        let writer = std::thread::spawn(move || write(&take));
        let mut input = std::io::stdin().lock();
        while let Some(request) = request(&mut input)? {
            let Some([first, ..]) = request.first() else { continue };
            let at = *first as usize / rows;
            let group = groups.get_mut(at).with_context(|| format!("there is no slot {first}"))?;
            let logits = group.read(&request, at * rows, (length, vocabulary), device)?;
            let answer = match &ranking {
                Some(ranking) => ranking.rank(&logits, request.iter().map(|[.., key]| *key)),
                None if half => logits.to_kind(Number::BFloat16),
                None => logits.to_kind(Number::Float),
            };
            if give.send(answer).is_err() {
                break;
            }
        }
        drop(give);
        match writer.join() {
            Ok(written) => Ok(written?),
            Err(panic) => resume_unwind(panic),
        }
    }
}

/// Write answers as they come. A GPU computes while this waits for it, so that the next request is on its way to it
/// before the answer to this one is written.
fn write(answers: &Receiver<Tensor>) -> std::io::Result<()> {
    let mut output = std::io::stdout().lock();
    let mut bytes = Vec::new();
    for answer in answers {
        bytes.resize(answer.numel() * answer.kind().elt_size_in_bytes(), 0);
        answer.to_device(Device::Cpu).copy_data_u8(&mut bytes, answer.numel());
        output.write_all(&bytes).and_then(|()| output.flush())?;
    }
    Ok(())
}

/// The next request, `None` at the end.
fn request(input: &mut impl Read) -> anyhow::Result<Option<Vec<[u32; 4]>>> {
    let mut count = [0; 4];
    match input.read_exact(&mut count) {
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(None),
        read => read?,
    }
    let mut bytes = vec![0; 16 * u32::from_le_bytes(count) as usize];
    input.read_exact(&mut bytes)?;
    let (numbers, _) = bytes.as_chunks::<4>();
    let (quadruples, _) = numbers.as_chunks::<4>();
    Ok(Some(quadruples.iter().map(|four| four.map(u32::from_le_bytes)).collect()))
}

impl Group {
    /// Logits of the slots of a request, `[quadruples, vocabulary]`; `first` is the group's first slot.
    fn read(
        &mut self,
        request: &[[u32; 4]],
        first: usize,
        (length, vocabulary): (usize, u64),
        device: Device,
    ) -> anyhow::Result<Tensor> {
        let slots = self.lengths.len();
        let asked = request.iter().map(|[slot, ..]| {
            let at = (*slot as usize).checked_sub(first).filter(|at| *at < slots);
            at.with_context(|| format!("slot {slot} is of another group"))
        });
        let asked = asked.collect::<anyhow::Result<Vec<usize>>>()?;
        self.arrange(&asked, device);
        let mut tokens = vec![0_i64; self.width];
        // Slots that are not asked for rest.
        let mut positions = vec![length as i64; self.width];
        let mut places = Vec::with_capacity(request.len());
        let mut longest = 0;
        for ([slot, place, token, _], at) in request.iter().zip(asked) {
            let (place, known) = (*place as usize, self.lengths[at]);
            let follows = place == 0 || place == known || place < known && self.decoder.goes_back();
            ensure!(follows, "slot {slot} has read {known} tokens and cannot go on behind {place}");
            ensure!(place < length, "slot {slot} is full");
            ensure!(u64::from(*token) < vocabulary, "token {token} is outside of the vocabulary");
            let row = self.rows[at];
            tokens[row] = i64::from(*token);
            positions[row] = place as i64;
            self.lengths[at] = place + 1;
            longest = longest.max(place as i64 + 1);
            places.push(row as i64);
        }
        let put = |numbers: &[i64]| Tensor::from_slice(numbers).to_device(device);
        let rows = Advance { tokens: put(&tokens), positions: put(&positions), longest };
        Ok(self.decoder.advance(&rows).index_select(0, &put(&places)))
    }

    /// Let the rows of the slots that are asked for be among those that are read, and these be few.
    fn arrange(&mut self, asked: &[usize], device: Device) {
        let slots = self.rows.len();
        if 2 * asked.len() <= self.width && self.decoder.narrows() {
            let mut wanted = vec![false; slots];
            asked.iter().for_each(|at| wanted[*at] = true);
            let others = (0..slots).filter(|at| !wanted[*at]);
            let order: Vec<usize> = asked.iter().copied().chain(others).collect();
            let rows: Vec<i64> = order.iter().map(|at| self.rows[*at] as i64).collect();
            self.decoder.keep(&Tensor::from_slice(&rows).to_device(device));
            for (row, at) in order.into_iter().enumerate() {
                self.rows[at] = row;
            }
            self.width = asked.len();
        } else if asked.iter().any(|at| self.rows[*at] >= self.width) {
            self.width = slots;
        }
    }
}

//! `benchstone-torch decode`: logits for a program that draws tokens itself, through pipes.
//!
//! The first line of the output is JSON: `slots`, `groups`, `length`, `vocabulary`, `half`. After it both sides speak
//! in little-endian numbers of 32 bits. A request is a count and so many triples of a slot, how many of its tokens
//! stand before the next, and that token: what the slot has read behind its place is forgotten. The answer is the logits
//! of what comes next, a row for each triple: bf16 where `half` says so, f32 otherwise. Requests are answered in their order. All
//! slots of a request are of one group (equal parts of the slots, in order), so that the other side can look at
//! one group's logits while the other group is read.

use crate::{
    device,
    model::{self, Advance, Decoder, Run},
};
use anyhow::{Context, bail, ensure};
use std::{
    io::{ErrorKind, Read, Write},
    panic::{AssertUnwindSafe, catch_unwind},
    path::PathBuf,
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
}

impl Decode {
    pub(crate) fn run(&self) -> anyhow::Result<()> {
        ensure!(
            self.groups > 0 && self.slots > 0 && self.slots.is_multiple_of(self.groups),
            "{} slots are no equal parts of {} groups",
            self.slots,
            self.groups
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
        let run = Run { training: false, half, dropout: 0.0 };
        let rows = self.slots / self.groups;
        let group = |_| {
            let decoder = model.decoder(rows as i64, length as i64, run);
            let decoder = decoder.context("this kind has no cached decoding")?;
            Ok(Group { decoder, lengths: vec![0; rows] })
        };
        let mut groups = (0..self.groups).map(group).collect::<anyhow::Result<Vec<_>>>()?;
        let mut input = std::io::stdin().lock();
        let mut output = std::io::stdout().lock();
        let header = serde_json::json!({
            "slots": self.slots, "groups": self.groups, "length": length,
            "vocabulary": vocabulary, "half": half,
        });
        writeln!(output, "{header}").and_then(|()| output.flush())?;
        let kind = if half { Number::BFloat16 } else { Number::Float };
        let mut answer = Vec::new();
        while let Some(request) = request(&mut input)? {
            let Some([first, ..]) = request.first() else { continue };
            let at = *first as usize / rows;
            let group = groups.get_mut(at).with_context(|| format!("there is no slot {first}"))?;
            let logits =
                group.read(&request, at * rows, (length, vocabulary), device)?.to_kind(kind);
            let size = logits.numel() * kind.elt_size_in_bytes();
            answer.resize(size, 0);
            logits.to_device(Device::Cpu).copy_data_u8(&mut answer, logits.numel());
            output.write_all(&answer).and_then(|()| output.flush())?;
        }
        Ok(())
    }
}

/// The next request, `None` at the end.
fn request(input: &mut impl Read) -> anyhow::Result<Option<Vec<[u32; 3]>>> {
    let mut count = [0; 4];
    match input.read_exact(&mut count) {
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(None),
        read => read?,
    }
    let mut bytes = vec![0; 12 * u32::from_le_bytes(count) as usize];
    input.read_exact(&mut bytes)?;
    let (numbers, _) = bytes.as_chunks::<4>();
    let (triples, _) = numbers.as_chunks::<3>();
    Ok(Some(triples.iter().map(|triple| triple.map(u32::from_le_bytes)).collect()))
}

impl Group {
    /// Logits of the slots of a request, `[triples, vocabulary]`; `first` is the group's first slot.
    fn read(
        &mut self,
        request: &[[u32; 3]],
        first: usize,
        (length, vocabulary): (usize, u64),
        device: Device,
    ) -> anyhow::Result<Tensor> {
        let rows = self.lengths.len();
        let mut tokens = vec![0_i64; rows];
        // Slots that are not asked for rest.
        let mut positions = vec![length as i64; rows];
        let mut places = Vec::with_capacity(request.len());
        for [slot, place, token] in request {
            let at = (*slot as usize).checked_sub(first).filter(|at| *at < rows);
            let at = at.with_context(|| format!("slot {slot} is of another group"))?;
            let (place, known) = (*place as usize, self.lengths[at]);
            let follows = place == 0 || place == known || place < known && self.decoder.goes_back();
            ensure!(follows, "slot {slot} has read {known} tokens and cannot go on behind {place}");
            self.lengths[at] = place;
            ensure!(place < length, "slot {slot} is full");
            ensure!(u64::from(*token) < vocabulary, "token {token} is outside of the vocabulary");
            tokens[at] = i64::from(*token);
            positions[at] = self.lengths[at] as i64;
            self.lengths[at] += 1;
            places.push(at as i64);
        }
        let longest = places.iter().map(|at| self.lengths[*at as usize]).max().unwrap_or(0) as i64;
        let put = |numbers: &[i64]| Tensor::from_slice(numbers).to_device(device);
        let rows = Advance { tokens: put(&tokens), positions: put(&positions), longest };
        Ok(self.decoder.advance(&rows).index_select(0, &put(&places)))
    }
}

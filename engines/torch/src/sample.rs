//! `stampmill-torch sample`: draw token sequences, many at a time.

use crate::{
    device,
    model::{self, Kind, Model, Run},
};
use anyhow::Context;
use std::{io::Write, path::PathBuf, time::Instant};
use tch::{Device, Kind as Number, Tensor};

/// Draw token sequences from a checkpoint.
#[derive(clap::Args, Debug)]
pub(crate) struct Sample {
    /// A checkpoint folder
    folder: PathBuf,
    /// How many
    #[arg(long, default_value_t = 1000)]
    n: usize,
    /// Sequences at a time
    #[arg(long, default_value_t = 1024)]
    batch: usize,
    /// Most new tokens of one
    #[arg(long, default_value_t = 512)]
    length: usize,
    /// Divides the logits
    #[arg(long, default_value_t = 1.0)]
    temperature: f64,
    /// Draw from the likeliest tokens that hold this share
    #[arg(long, default_value_t = 1.0)]
    top_p: f64,
    /// Same seed, same samples on one device
    #[arg(long, default_value_t = 0)]
    seed: i64,
    /// Ids that every sample begins with, with commas
    #[arg(long, value_delimiter = ',')]
    prompt: Vec<i64>,
    /// Ids after the hole (kind `hole` only)
    #[arg(long, value_delimiter = ',')]
    after: Vec<i64>,
    /// The file to write: one JSON list of new ids a line
    #[arg(short, long)]
    out: PathBuf,
    /// `cpu`, `cuda` or `auto`
    #[arg(long, default_value = "auto")]
    device: String,
    /// `bf16` or `f32`
    #[arg(long)]
    precision: Option<String>,
}

/// Ids of special tokens; 0 where a tokenizer has none that is needed.
#[derive(Clone, Copy, Debug, Default, serde::Deserialize)]
#[serde(default)]
struct Special {
    /// Begins every sequence.
    start: u32,
    /// Ends every sequence.
    end: u32,
    /// A hole.
    hole: u32,
    /// Nothing more to fill in.
    hole_end: u32,
}

/// Steps between looks at how many sequences are still open.
const LOOK: usize = 16;

impl Sample {
    pub(crate) fn run(&self) -> anyhow::Result<()> {
        let device = device::choose(&self.device)?;
        let half = device::half(self.precision.as_deref(), device)?;
        let _no_grad = tch::no_grad_guard();
        tch::manual_seed(self.seed);
        let model = model::load(&self.folder, device)?;
        let config = model::configuration(&self.folder)?;
        let special: Special = serde_json::from_value(config["stampmill"]["special"].clone())
            .context("config.json has no `stampmill.special`: which token ends a sample?")?;
        let run = Run { half };
        let hole = model::kind_of(&config)? == Kind::Hole;
        let mut all: Vec<Vec<i64>> = Vec::new();
        let began = Instant::now();
        while all.len() < self.n {
            let rows = self.batch.min(self.n - all.len()) as i64;
            let drawn = match hole {
                true => self.fill(&*model, rows, special, device, run),
                false => self.decode(&*model, rows, special, device, run)?,
            };
            all.extend(drawn);
        }
        device::wait(device);
        let seconds = began.elapsed().as_secs_f64();
        let tokens: usize = all.iter().map(Vec::len).sum();
        let mut text = Vec::new();
        for sample in &all {
            serde_json::to_writer(&mut text, sample)?;
            text.write_all(b"\n")?;
        }
        let temporary = self.out.with_extension("new");
        std::fs::write(&temporary, text)
            .and_then(|()| std::fs::rename(&temporary, &self.out))
            .with_context(|| format!("cannot write {}", self.out.display()))?;
        println!(
            "{}",
            serde_json::json!({
                "samples": all.len(), "tokens": tokens, "seconds": seconds,
                "tokens_per_second": tokens as f64 / seconds,
                "samples_per_second": all.len() as f64 / seconds,
            })
        );
        Ok(())
    }

    /// Draw one token a row from `[rows, vocabulary]` logits.
    fn choose(&self, logits: &Tensor) -> Tensor {
        let logits = logits.to_kind(Number::Float);
        if self.temperature <= 0.0 {
            return logits.argmax(1, false);
        }
        let logits = logits / self.temperature;
        if self.top_p >= 1.0 {
            return gumbel(&logits).argmax(1, false);
        }
        let (sorted, order) = logits.sort(1, true);
        let shares = sorted.softmax(1, Number::Float);
        // What stands before a token, so that the first is always kept.
        let before = shares.cumsum(1, Number::Float) - &shares;
        let kept = sorted.masked_fill(&before.ge(self.top_p), f64::NEG_INFINITY);
        let at = gumbel(&kept).argmax(1, true);
        order.gather(1, &at, false).squeeze_dim(1)
    }

    /// Left to right with a cache; rows that have ended make room when half of them have.
    fn decode(
        &self,
        model: &dyn Model,
        rows: i64,
        special: Special,
        device: Device,
        run: Run,
    ) -> anyhow::Result<Vec<Vec<i64>>> {
        let prompt = if self.prompt.is_empty() {
            vec![i64::from(special.start)]
        } else {
            self.prompt.clone()
        };
        let most = prompt.len() + self.length;
        let decoder = model.decoder(rows, most as i64, run);
        let mut decoder = decoder.context("this kind has no cached decoding")?;
        let end = i64::from(special.end);
        let mut drawn: Vec<Vec<i64>> = vec![Vec::new(); rows as usize];
        let mut open: Vec<usize> = (0..rows as usize).collect();
        let mut columns: Vec<Tensor> = Vec::new();
        let prompt = Tensor::from_slice(&prompt).to_device(device);
        let mut input = prompt.unsqueeze(0).repeat([rows, 1]);
        let mut ended = Tensor::zeros([rows], (Number::Bool, device));
        for at in 0..self.length {
            let next = self.choose(&decoder.step(&input));
            let next = next.masked_fill(&ended, end as f64);
            ended = ended.logical_or(&next.eq(end));
            input = next.unsqueeze(1);
            columns.push(next);
            if (at + 1) % LOOK != 0 && at + 1 != self.length {
                continue;
            }
            flush(&mut columns, &open, &mut drawn, end);
            let left = ended.logical_not().nonzero().squeeze_dim(1);
            let count = left.size()[0] as usize;
            if count == 0 {
                break;
            }
            if count * 2 <= open.len() {
                let kept = Vec::<i64>::try_from(&left.to_device(Device::Cpu))?;
                open = kept.iter().map(|at| open[*at as usize]).collect();
                decoder.keep(&left);
                input = input.index_select(0, &left);
                ended = ended.index_select(0, &left);
            }
        }
        Ok(drawn)
    }

    /// One token in the hole at a time, the whole kernel read anew for each (BenchPress).
    fn fill(
        &self,
        model: &dyn Model,
        rows: i64,
        special: Special,
        device: Device,
        run: Run,
    ) -> Vec<Vec<i64>> {
        let put =
            |ids: &[i64]| Tensor::from_slice(ids).to_device(device).unsqueeze(0).repeat([rows, 1]);
        let mut left = put(&[&[i64::from(special.start)][..], &self.prompt].concat());
        let right =
            put(&[&[i64::from(special.hole)][..], &self.after, &[i64::from(special.end)]].concat());
        let end = i64::from(special.hole_end);
        let mut ended = Tensor::zeros([rows], (Number::Bool, device));
        let mut columns = Vec::new();
        for at in 0..self.length {
            let place = left.size()[1];
            let input = Tensor::cat(&[&left, &right], 1);
            let hidden = model.hidden(&input, run).select(1, place);
            let next = self.choose(&model.head(&hidden, run)).masked_fill(&ended, end as f64);
            ended = ended.logical_or(&next.eq(end));
            left = Tensor::cat(&[&left, &next.unsqueeze(1)], 1);
            columns.push(next);
            if (at + 1) % LOOK == 0 && bool::try_from(ended.all()).unwrap_or(false) {
                break;
            }
        }
        let mut drawn = vec![Vec::new(); rows as usize];
        let open: Vec<usize> = (0..rows as usize).collect();
        flush(&mut columns, &open, &mut drawn, end);
        drawn
    }
}

/// Gumbel noise: the largest of noisy logits is a draw from their distribution.
fn gumbel(logits: &Tensor) -> Tensor {
    let noise = Tensor::rand_like(logits).clamp(1e-9, 1.0 - 1e-7);
    logits - (-noise.log()).log()
}

/// Move drawn columns to the CPU; a row takes tokens until its end.
fn flush(columns: &mut Vec<Tensor>, open: &[usize], drawn: &mut [Vec<i64>], end: i64) {
    let width = columns.len();
    let block = Tensor::stack(columns, 1).to_device(Device::Cpu).contiguous();
    columns.clear();
    let mut ids = vec![0_i64; block.numel()];
    let count = ids.len();
    block.copy_data(&mut ids, count);
    for (row, at) in open.iter().enumerate() {
        // A row that has ended holds its end token already.
        if drawn[*at].last() == Some(&end) {
            continue;
        }
        for id in &ids[row * width..(row + 1) * width] {
            drawn[*at].push(*id);
            if *id == end {
                break;
            }
        }
    }
}

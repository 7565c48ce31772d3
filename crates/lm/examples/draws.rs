//! What drawing samples costs, without judging them: tokens and processor time.
//!
//! ```sh
//! cargo run --release -p lm --example draws -- models/infill 96 1    # a checkpoint, samples, a seed
//! ```

use lm::{Checkpoint, Choice, Drawing, Prompt, START, Sample, Sampler};
use std::{
    env, fs,
    hash::{DefaultHasher, Hash, Hasher},
    path::Path,
    time::Instant,
};

/// Seconds of a processor that this process took (ticks are hundredths of a second).
fn processor() -> Option<f64> {
    let text = fs::read_to_string("/proc/self/stat").ok()?;
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = |at: usize| fields.get(at)?.parse::<f64>().ok();
    Some((ticks(11)? + ticks(12)?) / 100.0)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let number = |at: usize, or: u64| arguments.get(at).map_or(Ok(or), |text| text.parse());
    let checkpoint = Checkpoint::load(Path::new(arguments.first().ok_or("name a checkpoint")?))?;
    let (count, seed) = (number(1, 96)?, number(2, 1)?);
    let slots = usize::try_from(number(3, 48)?)?;
    let drawing = Drawing {
        choice: Choice { temperature: 0.9, top_p: 1.0 },
        seed,
        slots,
        ..Drawing::default()
    };
    let sampler = Sampler::new(&checkpoint, drawing);
    let (loaded, began) = (processor().unwrap_or(0.0), Instant::now());
    let mut samples: Vec<Sample> = Vec::new();
    sampler.draw(&Prompt::new(START), 0..count, &mut |sample| {
        samples.push(sample);
        true
    })?;
    let (spent, passed) = (processor().unwrap_or(0.0) - loaded, began.elapsed().as_secs_f64());
    samples.sort_by_key(|sample| sample.number);
    let mut hasher = DefaultHasher::new();
    for sample in &samples {
        sample.text.hash(&mut hasher);
    }
    let tokens: usize = samples.iter().map(|sample| sample.tokens).sum();
    let (ended, closed) = (
        samples.iter().filter(|sample| sample.ended).count(),
        samples.iter().filter(|sample| sample.closed).count(),
    );
    let refused: u64 = samples.iter().map(|sample| sample.refused).sum();
    println!(
        "{count} samples, {ended} ended, {closed} of them steered to an end; {tokens} tokens kept, {refused} draws refused; \
         texts {:016x}",
        hasher.finish()
    );
    println!(
        "{spent:.2} s of a processor ({:.3} s a sample, {:.3} ms a kept token); {passed:.1} s passed",
        spent / count.max(1) as f64,
        1e3 * spent / tokens.max(1) as f64,
    );
    Ok(())
}

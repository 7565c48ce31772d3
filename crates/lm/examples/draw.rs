//! scratch
use lm::{Checkpoint, Choice, Drawing, Prompt, Sampler};
use std::{collections::BTreeMap, env, path::Path, time::Instant};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let a: Vec<String> = env::args().collect();
    let checkpoint = Checkpoint::load(Path::new(&a[1]))?;
    let n: u64 = a[2].parse()?;
    let temperature: f32 = a[3].parse()?;
    let seed: u64 = a[4].parse()?;
    let constrained = a.get(5).is_none_or(|a| a != "free");
    let drawing = Drawing {
        choice: Choice { temperature, top_p: 1.0 },
        seed,
        constrained,
        longest: 768,
        slots: 48,
    };
    let began = Instant::now();
    let mut all = Vec::new();
    Sampler::new(&checkpoint, drawing).draw(&Prompt::new(lm::START), 0..n, &mut |s| {
        all.push(s);
        true
    })?;
    let seconds = began.elapsed().as_secs_f64();
    let clang = clang::Clang::start(2)?;
    let mut why: BTreeMap<String, u64> = BTreeMap::new();
    let mut good = 0;
    for s in &all {
        let mut first = None;
        let mut ok = false;
        if s.ended {
            for standard in ["CL2.0", "CL1.2", "CL3.0", "CL1.1"] {
                let options = clang::Options {
                    triple: clang::Triple::Spir64,
                    standard: standard.into(),
                    ..clang::Options::opencl()
                };
                match clang.compile(&s.text, &options) {
                    Ok(answer) => match answer.first_error() {
                        None => { ok = true; break }
                        Some(e) => { first.get_or_insert((e.message.clone(), e.line.unwrap_or(0))); }
                    },
                    Err(e) => { first.get_or_insert((format!("{e:?}"), 0)); }
                }
            }
        } else {
            first = Some(("unfinished".into(), 0));
        }
        good += u64::from(ok);
        if !ok {
            let (m, line) = first.unwrap_or_default();
            let text = s.text.lines().nth((line as usize).saturating_sub(1)).unwrap_or("");
            println!("{m} | closed {} | {text}", s.closed);
            *why.entry(m).or_default() += 1;
        }
        if env::var("SHOW").is_ok() { println!("=== ok {ok} closed {}\n{}", s.closed, s.text); }
    }
    let tokens: usize = all.iter().map(|s| s.tokens).sum();
    let closed = all.iter().filter(|s| s.closed).count();
    let refused: u64 = all.iter().map(|s| s.refused).sum();
    println!("{why:#?}");
    println!("{good} of {} compile; {closed} closed; {tokens} tokens, {refused} refused, {seconds:.1} s, {:.0} tokens/s", all.len(), tokens as f64 / seconds);
    Ok(())
}

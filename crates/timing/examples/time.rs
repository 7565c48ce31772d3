//! Time one program: `cargo run --release -p timing --example time -- PROGRAM [STDIN] [CPU] [SOURCE] [RATE]`.

use std::path::{Path, PathBuf};
use timing::{Job, Options, SourceKind};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let word = |at: usize| words.get(at).map(String::as_str).filter(|word| !word.is_empty());
    let program = word(0).ok_or("name a program")?;
    let job = Job::read(Path::new(program), word(1).map(PathBuf::from).as_ref())?;
    let options = Options {
        cpu: word(2).unwrap_or("zen4").to_owned(),
        source: SourceKind::parse(word(3).unwrap_or("qemu"))?,
        sample_rate: word(4).unwrap_or("1").parse()?,
        runs: 5,
        ..Options::default()
    };
    println!("{}", serde_json::to_string_pretty(&timing::time(&job, &options)?)?);
    Ok(())
}

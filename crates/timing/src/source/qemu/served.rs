//! One start of the emulator for many inputs of a program: the plugin copies the process where inputs
//! first matter (`serve` of `timing-plugin`), and what came of each copy is read here.

use super::{Prepared, Qemu, mark};
use crate::{Error, Measurement, source::run_under};
use dataset::content_hash;
use sandbox::{Memory, Profile};
use timing_model::Report;

/// What a copy of the program left behind.
struct Served<'a> {
    stdout: &'a [u8],
    /// Lines of the plugin, without the mark.
    said: Vec<&'a str>,
}

impl Qemu {
    /// Run the program on inputs in order. An answer for each that it ended well on; the others, all
    /// behind the last answer among them, say nothing about the program.
    pub(super) fn serve(
        &self,
        program: &Prepared<'_>,
        inputs: &[&[u8]],
    ) -> Result<Vec<Option<Measurement>>, Error> {
        let options = &self.options;
        let cpu = program.place.put("cpu.toml", self.cpu_text.as_bytes())?;
        for (number, input) in inputs.iter().enumerate() {
            // Where the plugin looks for them: the name of the one input, and a number.
            program.place.put(&format!("stdin.{number}"), input)?;
        }
        let mark = mark();
        let count = inputs.len() as u64;
        let wall = u64::try_from(options.timeout.as_millis()).unwrap_or(u64::MAX);
        let limits = [("inputs", count), ("memory", options.memory_bytes), ("wall_ms", wall)];
        let command = self.command(program, &cpu, &mark, &limits);
        // The plugin watches the memory of each copy. What they print together is held to what one may.
        let profile = Profile {
            memory: Memory::AddressSpace(u64::MAX),
            processor: options.timeout,
            output_bytes: options.output_bytes,
            readable: vec![self.plugin.clone()],
            processes: 4,
            ..Profile::native()
        };
        let whole = options.timeout.saturating_mul(u32::try_from(count + 1).unwrap_or(u32::MAX));
        let finished = run_under("qemu-x86_64", command, program, &profile, whole)?;
        let said = String::from_utf8_lossy(&finished.stderr);
        let served = parts(&finished.stdout, &said, &mark);
        Ok(served.iter().map(|served| self.measurement_of(served)).collect())
    }

    fn measurement_of(&self, served: &Served<'_>) -> Option<Measurement> {
        let said = |what| served.said.iter().find_map(|line| line.strip_prefix(what));
        let (status, nanoseconds) = said("served")?.trim().split_once(' ')?;
        let report = Report::parse(said("report")?)?;
        if said("refused").is_some() {
            return None;
        }
        Some(Measurement {
            exit_status: status.parse().ok()?,
            input_ended: Some(said("input-ended").is_some()),
            output_hash: content_hash(served.stdout),
            host_seconds: nanoseconds.parse::<u64>().ok()? as f64 / 1e9,
            ..self.measurement(&report)
        })
    }
}

/// The outputs of the copies, and what the plugin said in each, up to the last whole one.
fn parts<'a>(stdout: &'a [u8], stderr: &'a str, mark: &str) -> Vec<Served<'a>> {
    let end = format!("\n{mark}\n");
    let mut rest = stdout;
    let mut all = Vec::new();
    let mut said = Vec::new();
    for line in stderr.lines().filter_map(|line| line.strip_prefix(mark)).map(str::trim_start) {
        said.push(line);
        if !line.starts_with("served") {
            continue;
        }
        let Some(at) = rest.windows(end.len()).position(|found| found == end.as_bytes()) else {
            break;
        };
        all.push(Served { stdout: &rest[..at], said: std::mem::take(&mut said) });
        rest = &rest[at + end.len()..];
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outputs_and_words_of_copies_are_told_apart() {
        let stdout = b"one\n\nMARK\n\nMARK\nthree\nand a half";
        let stderr = "\nMARK report a\n\nMARK served 0 12\nnoise\nMARK input-ended \n\nMARK report b\n\nMARK served 3 9\n\nMARK served killed 1\n";
        let parts = parts(stdout, stderr, "MARK");
        assert_eq!(parts.len(), 2);
        assert_eq!((parts[0].stdout, parts[1].stdout), (&b"one\n"[..], &b""[..]));
        assert_eq!(parts[0].said, ["report a", "served 0 12"]);
        assert_eq!(parts[1].said, ["input-ended ", "report b", "served 3 9"]);
    }
}

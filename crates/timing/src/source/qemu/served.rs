//! One start of the emulator for many inputs of a program: the plugin copies the process where inputs
//! first matter (`serve` of `timing-plugin`), and what came of each copy is read here.

use super::{Prepared, Qemu, is_plausible, told};
use crate::{Error, Measurement, source::Run};
use dataset::content_hash;
use sandbox::Memory;
use timing_model::Report;

/// What a copy of the program left behind.
struct Served<'a> {
    stdout: &'a [u8],
    /// How it ended and how long it took.
    end: &'a str,
    /// What the plugin said in it before.
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
        let count = inputs.len() as u64;
        let wall = u64::try_from(options.timeout.as_millis()).unwrap_or(u64::MAX);
        let limits = [("inputs", count), ("memory", options.memory_bytes), ("wall_ms", wall)];
        let command = self.command(program, &cpu, None, &limits);
        let tools = [self.emulator.as_path(), &self.plugin];
        let mut run = Run::new(self.target.emulator, command, program, options, &tools);
        // The plugin watches the memory of each copy. What they print together is held to what one may.
        run.profile.memory = Memory::AddressSpace(u64::MAX);
        // The original and one copy at a time; it looks at the copy's memory in `/proc`.
        run.profile.processes = 2;
        run.profile.proc = true;
        run.wall = options.timeout.saturating_mul(u32::try_from(count + 1).unwrap_or(u32::MAX));
        run.channel = true;
        let finished = run.go()?;
        let channel = String::from_utf8_lossy(&finished.channel);
        let said = told(self.target, &channel, &finished)?;
        let all: Vec<Option<Measurement>> =
            parts(&finished.stdout, &said).iter().map(|part| self.measurement_of(part)).collect();
        let instructions = all.iter().flatten().filter_map(|measurement| measurement.instructions);
        // Alone each is looked at by itself.
        Ok(if is_plausible(instructions.sum(), &finished) { all } else { Vec::new() })
    }

    fn measurement_of(&self, served: &Served<'_>) -> Option<Measurement> {
        let said = |what| served.said.iter().find_map(|line| line.strip_prefix(what));
        let (status, nanoseconds) = served.end.split_once(' ')?;
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

/// The copies, with their outputs, which come one behind the other: `served STATUS NANOSECONDS BYTES`.
fn parts<'a>(stdout: &'a [u8], told: &[&'a str]) -> Vec<Served<'a>> {
    let mut rest = stdout;
    let mut all = Vec::new();
    let mut said = Vec::new();
    for line in told {
        let Some(end) = line.strip_prefix("served ") else {
            said.push(*line);
            continue;
        };
        let Some((end, bytes)) = end.trim().rsplit_once(' ') else { break };
        let Some((stdout, behind)) = bytes.parse().ok().and_then(|at| rest.split_at_checked(at))
        else {
            break;
        };
        all.push(Served { stdout, end, said: std::mem::take(&mut said) });
        rest = behind;
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outputs_and_words_of_copies_are_told_apart() {
        let stdout = b"one\nthree\nand a half";
        let told = [
            "report a",
            "served 0 12 4",
            "input-ended ",
            "report b",
            "served 3 9 0",
            "served killed 1 99",
        ];
        let parts = parts(stdout, &told);
        assert_eq!(parts.len(), 2);
        assert_eq!((parts[0].stdout, parts[1].stdout), (&b"one\n"[..], &b""[..]));
        assert_eq!((&parts[0].said[..], parts[0].end), (&["report a"][..], "0 12"));
        assert_eq!((&parts[1].said[..], parts[1].end), (&["input-ended ", "report b"][..], "3 9"));
    }
}

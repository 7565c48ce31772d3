//! One program's run, in safe code: options in, blocks and accesses through, one line out.

use crate::serve::{End, Serving};
use std::{
    fs::File,
    io::{Read, Write},
    ops::Range,
    os::fd::{AsRawFd, FromRawFd, OwnedFd},
    time::Duration,
};
use timing_model::{Architecture, Core, Cpu, FunctionCounts, Refusal, Settings, Slot};

/// What the plugin is told, as `name=value` arguments.
#[derive(Default)]
pub(crate) struct Options {
    cpu: Option<String>,
    /// File to be the program's standard input.
    pub(crate) stdin: Option<String>,
    /// File with the first address of each function, and the one behind its last.
    functions: Option<String>,
    /// Where there are several inputs: how many, and the limits of each run.
    serving: Option<Serving>,
    settings: Settings,
    /// Drive the emulator without the model, to measure what it costs by itself.
    empty: bool,
}

impl Options {
    /// Read the arguments.
    pub(crate) fn parse<'a>(arguments: impl Iterator<Item = &'a str>) -> Result<Options, String> {
        let mut options = Options::default();
        for argument in arguments {
            let (name, value) = argument.split_once('=').unwrap_or((argument, ""));
            let number =
                || value.parse::<u64>().map_err(|_| format!("`{name}`: `{value}` is no number"));
            match name {
                "cpu" => options.cpu = Some(value.to_owned()),
                "functions" => options.functions = Some(value.to_owned()),
                "stdin" => options.stdin = Some(value.to_owned()),
                "inputs" => options.serving_mut().inputs = number()?,
                "memory" => options.serving_mut().memory_bytes = number()?,
                "wall_ms" => options.serving_mut().wall = Duration::from_millis(number()?),
                "main" => options.settings.main = number()?,
                "image_end" => options.settings.image_end = number()?,
                "max_instructions" => options.settings.max_instructions = number()?,
                "sample_rate" => options.settings.sample_rate = number()?,
                "empty" => options.empty = true,
                _ => return Err(format!("unknown argument `{argument}`")),
            }
        }
        Ok(options)
    }

    fn serving_mut(&mut self) -> &mut Serving {
        self.serving.get_or_insert_default()
    }

    /// The file that is the program's standard input from its start on: of several, the first.
    pub(crate) fn first_input(&self) -> Option<String> {
        let file = self.stdin.as_deref()?;
        Some(if self.serving.is_some() { input_file(file, 0) } else { file.to_owned() })
    }
}

/// The file that holds one of several inputs.
pub(crate) fn input_file(file: &str, number: u64) -> String {
    format!("{file}.{number}")
}

/// The model and where it reports to.
pub(crate) struct Session {
    /// What the program is written in.
    pub(crate) architecture: Architecture,
    core: Core,
    /// Begins each line of the report. Nobody but the reader of the report knows it, so that a program that gets hold of
    /// the descriptor forges none.
    key: String,
    out: File,
    pub(crate) empty: bool,
    /// Arguments of the system call under way.
    arguments: [u64; 3],
    /// Whether the program has met the end of its input.
    input_ended: bool,
    /// Inputs that wait for the program to come to where they matter, and the file they are in.
    pub(crate) serving: Option<(Serving, String)>,
}

impl Session {
    /// Begin a run that reports to `out`.
    pub(crate) fn new(options: &Options, out: OwnedFd) -> Result<Session, String> {
        let path = options.cpu.as_deref().ok_or("no cpu=FILE was given")?;
        let text = std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
        let cpu = Cpu::parse(&text).map_err(|error| error.to_string())?;
        let mut out = File::from(out);
        let key = new_key()?;
        writeln!(out, "begun {key}").map_err(|error| format!("descriptor 3: {error}"))?;
        let mut core = Core::new(&cpu, options.settings);
        if let Some(path) = &options.functions {
            core.watch(&ranges(path)?);
        }
        Ok(Session {
            architecture: cpu.architecture,
            core,
            key,
            out,
            empty: options.empty,
            arguments: [0; 3],
            input_ended: false,
            serving: options.serving.clone().zip(options.stdin.clone()),
        })
    }

    pub(crate) fn translate(&mut self, code: &[(u64, &[u8])]) -> Result<u32, Refusal> {
        self.core.translate(code)
    }

    pub(crate) fn slot(&self, block: u32, instruction: usize) -> Slot {
        self.core.slot(block, instruction)
    }

    #[inline(always)]
    pub(crate) fn access(&mut self, slot: usize, address: u64) {
        self.core.access(slot, address);
    }

    #[inline(always)]
    pub(crate) fn enter(&mut self, block: u32) -> Result<(), Refusal> {
        self.core.enter(block)
    }

    pub(crate) fn system_call(&mut self, number: i64, arguments: [u64; 3]) -> Result<(), Refusal> {
        self.arguments = arguments;
        self.core.system_call(number)
    }

    pub(crate) fn system_call_done(&mut self, number: i64, result: i64) {
        const READ: i64 = 0;
        let known = self.architecture.x86_call(number);
        if known == READ && self.arguments[0] == 0 && result == 0 && !self.input_ended {
            self.input_ended = true;
            self.say("input-ended", "");
        }
        self.core.system_call_done(number, self.arguments, result);
    }

    /// The program has ended by itself.
    pub(crate) fn finish(&mut self) {
        let report = self.core.finish();
        if !self.core.functions().is_empty() {
            self.say("functions", &FunctionCounts::to_line(self.core.functions()));
        }
        self.say("report", &report.to_line());
    }

    /// The program cannot be timed.
    pub(crate) fn refuse(&mut self, why: &str) {
        self.say("refused", why);
    }

    /// Something went wrong that is no fault of the program.
    pub(crate) fn fail(&mut self, why: &str) {
        self.say("failed", &why.replace('\n', " "));
    }

    /// The descriptor of the report.
    pub(crate) fn channel(&self) -> i32 {
        self.out.as_raw_fd()
    }

    /// The run on one of several inputs has ended: how, after how long, and how many bytes it printed.
    pub(crate) fn served(&mut self, end: End, wall: Duration, bytes: u64) {
        let end = match end {
            End::Left(status) => status.to_string(),
            End::Killed => "killed".to_owned(),
            End::Stopped => "stopped".to_owned(),
        };
        self.say("served", &format!("{end} {} {bytes}", wall.as_nanos()));
    }

    fn say(&mut self, what: &str, text: &str) {
        // In one piece, and behind whatever is there. When nobody listens any more there is nobody to tell.
        let _ = self.out.write_all(format!("\n{} {what} {text}\n", self.key).as_bytes());
    }
}

/// Where functions are: a line each, `START END` in decimal.
fn ranges(path: &str) -> Result<Vec<Range<u64>>, String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
    let range = |line: &str| {
        let (start, end) = line.split_once(' ')?;
        Some(start.parse().ok()?..end.parse().ok()?)
    };
    text.lines()
        .map(|line| range(line).ok_or_else(|| format!("{path}: `{line}` is no range")))
        .collect()
}

/// 32 letters that nobody can guess.
fn new_key() -> Result<String, String> {
    let mut bytes = [0_u8; 16];
    let mut random =
        File::open("/dev/urandom").map_err(|error| format!("/dev/urandom: {error}"))?;
    random.read_exact(&mut bytes).map_err(|error| format!("/dev/urandom: {error}"))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Owns a file descriptor that C made.
pub(crate) fn owned(descriptor: i32) -> Option<OwnedFd> {
    if descriptor < 0 {
        return None;
    }
    // SAFETY: the callers pass descriptors that they have just made and do not use otherwise.
    Some(unsafe { OwnedFd::from_raw_fd(descriptor) })
}

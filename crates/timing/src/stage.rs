//! A suite as a stage: programs and their inputs come in, rows of times go out.

use crate::{
    Error, Job, Options, SourceKind, Suite, Timer, TimingRow,
    options::Code,
    suite::{WITHOUT_INPUT, content_of, job_hash, row},
};
use dataset::{
    Input, Row, content_hash, content_hash_of,
    stage::{Finish, Items, Stage, Units, Worked},
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// What a suite's run comes to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SuiteReport {
    /// Programs on inputs.
    pub rows: u64,
    /// How many met which verdict.
    pub verdicts: BTreeMap<String, u64>,
    /// Instructions simulated.
    pub instructions: u64,
    /// Simulated seconds of all rows.
    pub seconds_simulated: f64,
    /// Programs that read their input and were given none.
    #[serde(default)]
    pub without_input: u64,
    /// Where cycles came from.
    pub source: String,
    /// Name of the processor.
    pub cpu: String,
}

/// A program and its input, as columns.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SuiteItem {
    /// Program, and input where it has several.
    pub name: String,
    /// `c`, `c++`, or `elf` for an executable.
    pub language: String,
    /// Source text, or the executable.
    #[serde(with = "serde_bytes")]
    pub program: Vec<u8>,
    /// What it reads.
    #[serde(with = "serde_bytes")]
    pub stdin: Vec<u8>,
}

impl Row for SuiteItem {
    const SCHEMA: &'static str = "suite-item";
    const VERSION: u32 = 1;
}

impl From<&Job> for SuiteItem {
    fn from(job: &Job) -> SuiteItem {
        let language = match job.program {
            Code::C(_) => "c",
            Code::Cpp(_) => "c++",
            Code::Elf(_) => "elf",
        };
        SuiteItem {
            name: job.name.clone(),
            language: language.to_owned(),
            program: content_of(&job.program).to_vec(),
            stdin: job.stdin.clone(),
        }
    }
}

impl SuiteItem {
    fn job(&self) -> Job {
        let text = || String::from_utf8_lossy(&self.program).into_owned();
        let program = match self.language.as_str() {
            "c" => Code::C(text()),
            "c++" => Code::Cpp(text()),
            _ => Code::Elf(self.program.clone()),
        };
        Job { name: self.name.clone(), program, stdin: self.stdin.clone() }
    }
}

/// Times a suite.
pub struct TimeSuite {
    suite: Suite,
    timer: Timer,
    tools: BTreeMap<String, String>,
}

impl TimeSuite {
    /// Find the source, the processor and the compilers.
    ///
    /// # Errors
    /// As [`crate::time`].
    pub fn new(suite: Suite, options: &Options) -> Result<TimeSuite, Error> {
        let timer = Timer::open(options)?;
        let tools = timer.tools(&suite.jobs)?;
        Ok(TimeSuite { suite, timer, tools })
    }

    fn processor(&self) -> Input {
        let text = self.timer.cpu.to_toml().unwrap_or_default();
        Input { name: "processor".into(), hash: content_hash(text.as_bytes()) }
    }
}

impl Stage for TimeSuite {
    const NAME: &'static str = "time";
    const UNITS: &'static str = "programs";
    type Item = SuiteItem;
    type Row = TimingRow;
    type Facts = ();
    type Summary = SuiteReport;
    type Worker = ();
    type Error = Error;

    fn settings(&self) -> Value {
        let mut settings = serde_json::to_value(&self.timer.options).unwrap_or_default();
        settings["processor"] = self.timer.cpu_name().into();
        settings["tools"] = serde_json::json!(self.tools);
        settings
    }

    fn inputs(&self) -> Result<Vec<Input>, Error> {
        let suite = Input { name: "suite".into(), hash: self.suite.identity() };
        Ok(vec![suite, self.processor()])
    }

    fn inputs_in_detail(&self) -> Result<Vec<Input>, Error> {
        let input = |job: &Job| Input { name: job.name.clone(), hash: job_hash(job) };
        Ok(self.suite.jobs.iter().map(input).chain([self.processor()]).collect())
    }

    fn items(&self) -> Result<Items<'_, TimeSuite>, Error> {
        let all = Box::new(self.suite.jobs.iter().map(|job| Ok(job.into())));
        Ok(Items { total: Some(self.suite.jobs.len() as u64), all })
    }

    fn key(&self, item: &SuiteItem) -> String {
        content_hash_of([item.name.as_bytes(), &item.program, &item.stdin])
    }

    /// What is measured by the wall clock has the machine to itself.
    fn threads(&self, jobs: usize) -> usize {
        if self.timer.options.source == SourceKind::Wall { 1 } else { jobs }
    }

    fn worker(&self) -> Result<(), Error> {
        Ok(())
    }

    fn work(&self, (): &mut (), items: &[SuiteItem]) -> Result<Vec<Worked<TimingRow>>, Error> {
        let timed = |item: &SuiteItem| {
            let job = item.job();
            let timing = self.timer.time(&job)?;
            Ok(Worked::Rows(vec![row(&job, timing, &self.timer.options, self.timer.cpu_name())]))
        };
        items.iter().map(timed).collect()
    }

    fn is_fault(error: &Error) -> bool {
        error.is_fault()
    }

    fn tools(&self) -> BTreeMap<String, String> {
        self.tools.clone()
    }

    fn finish<'a>(
        settings: &'a Value,
        (): (),
        units: &'a Units<TimingRow>,
    ) -> Result<Finish<'a, TimingRow, SuiteReport>, Error> {
        let word = |key: &str| settings[key].as_str().unwrap_or_default().to_owned();
        let mut report =
            SuiteReport { source: word("source"), cpu: word("processor"), ..Default::default() };
        for row in units.rows() {
            let (_, row) = row?;
            report.rows += 1;
            report.without_input += u64::from(row.detail == WITHOUT_INPUT);
            report.instructions += row.instructions.unwrap_or(0);
            report.seconds_simulated += row.seconds_simulated.unwrap_or(0.0);
            *report.verdicts.entry(row.verdict).or_default() += 1;
        }
        Ok(Finish::all(report.verdicts.clone(), report))
    }
}

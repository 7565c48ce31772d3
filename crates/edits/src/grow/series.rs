//! Inputs that are drawn for a problem, and which of them become tests.
//!
//! One series is for time: larger and larger inputs, until the slow program takes long enough. The other is for correctness: edge
//! values and inputs up to the limits, however long the slow program takes on them as long as it can be timed.

use super::{
    GrowOptions, Inputs,
    shape::{Draw, Scale, Shape, Size},
};
use crate::{
    Result,
    bench::Bench,
    compare::compare,
    pair::Language,
    problems::{Limit, Sample},
    stopwatch::Time,
    suite::Test,
    toolchain::Executable,
};
use dataset::content_hash;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

/// Native processor time after which nobody asks for the exact time any more.
const SLOW: Duration = Duration::from_millis(700);
/// Where a program is stopped: an input that a program needs longer for is too slow anyway.
const LONGEST: Duration = Duration::from_secs(2);
/// Shares of the largest counts that are tried, until one is not too large.
const COUNTS: [f64; 5] = [1.0, 1.0 / 4.0, 1.0 / 16.0, 1.0 / 64.0, 1.0 / 256.0];
/// Shares of the largest values.
const VALUES: [f64; 4] = [1.0, 1.0 / 32.0, 1.0 / 1024.0, 1.0 / 32768.0];

/// A program that passes the samples.
pub(super) struct Accepted<'a> {
    pub(super) program: Executable,
    pub(super) code: &'a str,
    pub(super) language: Language,
}

/// A drawn input that all agree on, and what the slow program takes on it.
pub(super) struct Agreed {
    pub(super) test: Test,
    pub(super) time: Time,
    /// What is special about it; nothing where it is one of the series for time.
    pub(super) shape: Option<Shape>,
}

/// What became of a drawn input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tried {
    Kept,
    /// It was drawn before.
    Known,
    Refused,
}

/// A part of an input without which a program shows that it would have read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Line,
    Token,
}

impl End {
    /// The input without it; `None` where nothing is there.
    fn cut(self, input: &[u8]) -> Option<Vec<u8>> {
        let end = input.trim_ascii_end();
        let is_before = |byte: &u8| match self {
            End::Line => *byte == b'\n',
            End::Token => byte.is_ascii_whitespace(),
        };
        let kept = end.iter().rposition(is_before).map_or(0, |at| at + 1);
        (!end.is_empty()).then(|| end[..kept].to_vec())
    }
}

/// The inputs of a problem.
pub(super) struct Series<'a> {
    bench: &'a Bench,
    options: &'a GrowOptions,
    /// The slow one first.
    accepted: &'a [Accepted<'a>],
    texts: Vec<&'a str>,
    inputs: Option<Inputs>,
    rng: ChaCha8Rng,
    /// Of each program, whether the sanitizers find nothing on the samples: one with findings there has them anywhere.
    is_clean: Vec<bool>,
    /// Whether the slow program reads past the end of a sample.
    reads_past: bool,
    /// What the slow program has to miss where it is not there.
    end: Option<End>,
    /// Content hashes of all inputs.
    known: BTreeSet<String>,
    /// Inputs drawn.
    pub(super) drawn: usize,
    pub(super) rejected: BTreeMap<&'static str, u64>,
    pub(super) agreed: Vec<Agreed>,
}

impl<'a> Series<'a> {
    /// Look at the samples. There is an accepted program, and a sample.
    pub(super) fn begin(
        (bench, options): (&'a Bench, &'a GrowOptions),
        accepted: &'a [Accepted<'a>],
        (samples, tests): (&'a [Sample], &[Test]),
        limits: &[Limit],
        seed: u64,
    ) -> Result<Series<'a>> {
        let texts: Vec<&str> = samples.iter().map(|sample| sample.input.as_str()).collect();
        let codes = || accepted.iter().map(|one| one.code);
        let within = |inputs: Inputs| inputs.within(limits, texts[0], codes());
        let inputs = Inputs::learn(&texts).map(within);
        let mut is_clean = Vec::new();
        for one in accepted {
            is_clean.push(bench.sanitize(one.code, one.language, tests)?.is_none());
        }
        let mut series = Series {
            bench,
            options,
            accepted,
            texts,
            inputs,
            rng: ChaCha8Rng::seed_from_u64(seed),
            is_clean,
            reads_past: false,
            end: None,
            known: tests.iter().map(|test| content_hash(&test.input)).collect(),
            drawn: 0,
            rejected: BTreeMap::new(),
            agreed: Vec::new(),
        };
        for test in tests {
            let time = bench.stopwatch.time(series.slow(), &test.input)?;
            series.reads_past |= time.is_ok_and(|time| time.input_ended);
        }
        if !series.reads_past {
            for end in [End::Token, End::Line] {
                if series.misses_in_all(end, tests)? {
                    series.end = Some(end);
                    break;
                }
            }
        }
        Ok(series)
    }

    /// The grammar in words; nothing where there is none.
    pub(super) fn grammar(&self) -> String {
        self.inputs.as_ref().map(Inputs::describe).unwrap_or_default()
    }

    /// Draw both series.
    pub(super) fn draw(&mut self) -> Result<()> {
        let all = self.options.draws;
        self.draw_for_time(all.div_ceil(2))?;
        self.draw_for_correctness(all)
    }

    /// Larger and larger inputs, up to so many in all.
    fn draw_for_time(&mut self, most: usize) -> Result<()> {
        let mut plan = scales(self.inputs.is_some());
        while let Some((scale, draws)) = plan.pop() {
            let (mut kept, mut refused) = (0, 0);
            for _ in 0..draws {
                if self.drawn >= most {
                    return Ok(());
                }
                match self.attempt(scale.into(), None)? {
                    Tried::Kept => kept += 1,
                    Tried::Known => {}
                    Tried::Refused => refused += 1,
                }
            }
            let enough = self.options.enough;
            let slow = self.agreed.iter().any(|one| one.time.instructions >= enough);
            // Where nothing of a scale holds, nothing larger of its kind will.
            if slow || (kept == 0 && refused > 0) {
                plan.retain(|(other, _)| {
                    let more_counts = other.counts > scale.counts && slow;
                    let more = other.counts >= scale.counts && other.values >= scale.values;
                    !more_counts && !more
                });
            }
        }
        Ok(())
    }

    /// Edge values, and inputs as large as the limits and the slow program allow, up to so many inputs in all.
    fn draw_for_correctness(&mut self, most: usize) -> Result<()> {
        if self.inputs.is_none() {
            return Ok(());
        }
        let small = Size::Times(1.0);
        let any = |counts: Size, values: Size| Draw { counts, values, shape: Shape::Any };
        let counts = self.reach(&COUNTS, most, |share| any(share, small))?;
        let values = self.reach(&VALUES, most, |share| any(small, share))?;
        for draw in edges(counts, values) {
            if self.drawn >= most {
                break;
            }
            self.attempt(draw, Some(draw.shape))?;
        }
        Ok(())
    }

    /// The largest share of the limits that holds; the size of the samples where none does.
    fn reach(&mut self, shares: &[f64], most: usize, draw: impl Fn(Size) -> Draw) -> Result<Size> {
        for share in shares {
            if self.drawn >= most {
                break;
            }
            let size = Size::Share(*share);
            if self.attempt(draw(size), Some(Shape::Any))? != Tried::Refused {
                return Ok(size);
            }
        }
        Ok(Size::Times(1.0))
    }

    /// Draw an input, and keep it where it is a test.
    fn attempt(&mut self, draw: Draw, shape: Option<Shape>) -> Result<Tried> {
        self.drawn += 1;
        let input = match &self.inputs {
            Some(inputs) => inputs.draw_as(draw, &mut self.rng),
            None => {
                let at = self.drawn % self.texts.len();
                Some(super::inputs::mutate(self.texts[at], &mut self.rng))
            }
        };
        let reason = match input {
            Some(input) if input.len() <= self.options.bytes => {
                if !self.known.insert(content_hash(input.as_bytes())) {
                    return Ok(Tried::Known);
                }
                match self.agree(input.into_bytes())? {
                    Ok((test, time)) => {
                        self.agreed.push(Agreed { test, time, shape });
                        return Ok(Tried::Kept);
                    }
                    Err(reason) => reason,
                }
            }
            _ => "too-large",
        };
        *self.rejected.entry(reason).or_default() += 1;
        Ok(Tried::Refused)
    }

    /// Whether all programs agree on an input and treat it well.
    fn agree(&self, input: Vec<u8>) -> Result<std::result::Result<(Test, Time), &'static str>> {
        let mut output: Option<Vec<u8>> = None;
        for Accepted { program, .. } in self.accepted {
            let ran = match self.bench.output_within(program, &input, LONGEST)? {
                Ok(ran) => ran,
                Err(verdict) if matches!(verdict.name.as_ref(), "timeout" | "cpu-limit") => {
                    return Ok(Err("too-slow"));
                }
                Err(_) => return Ok(Err("bad-end")),
            };
            if ran.processor > SLOW {
                return Ok(Err("too-slow"));
            }
            match &output {
                None => output = Some(ran.stdout),
                Some(first) if !are_same(first, &ran.stdout) => return Ok(Err("disagree")),
                Some(_) => {}
            }
        }
        let Some(output) = output else { return Ok(Err("bad-end")) };
        if output.iter().all(u8::is_ascii_whitespace) {
            return Ok(Err("no-output"));
        }
        let test = Test { number: 0, input, output };
        // What no program overflows on is more likely to be within the limits.
        for (one, is_clean) in self.accepted.iter().zip(&self.is_clean) {
            let tests = std::slice::from_ref(&test);
            if *is_clean && self.bench.sanitize(one.code, one.language, tests)?.is_some() {
                return Ok(Err("undefined-behaviour"));
            }
        }
        let time = match self.bench.stopwatch.time(self.slow(), &test.input)? {
            // It is, as if it had run for longer before.
            Err(verdict) if verdict.name == "instruction-limit" => return Ok(Err("too-slow")),
            Err(_) => return Ok(Err("cannot-be-timed")),
            Ok(time) if time.input_ended && !self.reads_past => {
                return Ok(Err("reads-past-input"));
            }
            Ok(time) if time.instructions > self.options.most => return Ok(Err("too-slow")),
            Ok(time) => time,
        };
        match self.reads_to_the_end(&test)? {
            true => Ok(Ok((test, time))),
            false => Ok(Err("not-read")),
        }
    }

    /// Whether the slow program misses the end of an input: it prints something else without, or asks for more.
    fn reads_to_the_end(&self, test: &Test) -> Result<bool> {
        let Some(cut) = self.end.and_then(|end| end.cut(&test.input)) else { return Ok(true) };
        match self.bench.output_within(self.slow(), &cut, LONGEST)? {
            Ok(ran) if are_same(&test.output, &ran.stdout) => {}
            _ => return Ok(true),
        }
        Ok(match self.bench.stopwatch.time(self.slow(), &cut)? {
            Ok(time) => time.input_ended,
            Err(_) => true,
        })
    }

    /// Whether the slow program asks for more input where the end of a sample is not there. One that comes to a bad end then, or
    /// goes on for long, is not asked.
    fn misses_in_all(&self, end: End, tests: &[Test]) -> Result<bool> {
        for test in tests {
            let Some(cut) = end.cut(&test.input) else { return Ok(false) };
            if self.bench.output_within(self.slow(), &cut, LONGEST)?.is_err() {
                return Ok(false);
            }
            let time = self.bench.stopwatch.time(self.slow(), &cut)?;
            if !time.is_ok_and(|time| time.input_ended) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn slow(&self) -> &'a Executable {
        &self.accepted[0].program
    }
}

/// Whether two outputs are the same, whichever is right.
fn are_same(one: &[u8], other: &[u8]) -> bool {
    compare(one, other).is_ok() && compare(other, one).is_ok()
}

/// Scales and how many inputs are drawn at each, the last one first.
fn scales(grammar: bool) -> Vec<(Scale, usize)> {
    let scale = |counts: f64, values: f64| Scale { counts, values };
    let mut plan = vec![(scale(1.0, 1.0), if grammar { 6 } else { 16 })];
    if grammar {
        for factor in [16.0, 256.0, 4096.0, 65536.0] {
            plan.push((scale(factor, 1.0), 2));
            plan.push((scale(1.0, factor), 2));
            plan.push((scale(factor, factor), 2));
        }
    }
    plan.reverse();
    plan
}

/// What is drawn for correctness, the most telling first, up to these sizes.
fn edges(counts: Size, values: Size) -> Vec<Draw> {
    let small = Size::Times(1.0);
    let plan = [
        (counts, values, Shape::Most),
        // A single element.
        (Size::Least, values, Shape::Any),
        (Size::Least, values, Shape::Least),
        (counts, values, Shape::Any),
        (counts, values, Shape::Equal),
        (counts, values, Shape::Ends),
        (counts, small, Shape::Few),
        (counts, values, Shape::Ascending),
        (counts, values, Shape::Descending),
        (counts, small, Shape::Bits),
        (counts, values, Shape::Least),
        (Size::Least, values, Shape::Most),
        (small, values, Shape::Most),
        (small, values, Shape::Least),
        (small, values, Shape::Ends),
        (small, small, Shape::Equal),
        (small, small, Shape::Few),
        (small, small, Shape::Bits),
        (small, small, Shape::Ascending),
        (small, small, Shape::Descending),
    ];
    plan.map(|(counts, values, shape)| Draw { counts, values, shape }).to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_an_input_is_its_last_line_or_token() {
        let cut = |end: End, text: &str| {
            end.cut(text.as_bytes()).map(|cut| String::from_utf8(cut).unwrap())
        };
        assert_eq!(cut(End::Line, "3\n1 2 3\n\n").as_deref(), Some("3\n"));
        assert_eq!(cut(End::Token, "3\n1 2 3\n").as_deref(), Some("3\n1 2 "));
        assert_eq!(cut(End::Line, "10\n").as_deref(), Some(""));
        assert_eq!(cut(End::Token, " \n"), None);
    }

    #[test]
    fn both_series_fit_into_the_draws() {
        let most = GrowOptions::default().draws;
        let time: usize = scales(true).iter().map(|(_, draws)| draws).sum();
        let edges = edges(Size::Share(1.0), Size::Share(1.0)).len();
        assert!(time <= most.div_ceil(2));
        assert!(edges + COUNTS.len() + VALUES.len() <= most / 2);
    }
}

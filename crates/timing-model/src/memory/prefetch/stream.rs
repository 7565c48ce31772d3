//! Streams: accesses that go up or down through neighbouring lines.

use super::Run;
use crate::cpu::Prefetch;

const LINES_PER_PAGE: u64 = 64;
/// Lines between two accesses of one stream, at most.
const REACH: i64 = 4;

#[derive(Clone, Copy)]
struct Stream {
    page: u64,
    last: u64,
    /// Steps in one direction, signed.
    trust: i64,
    /// The line furthest along that was asked for.
    ahead: u64,
    used: u64,
}

/// A table of streams, one per page, the least recently used replaced.
pub(crate) struct Streams {
    table: Vec<Stream>,
    rules: Prefetch,
    clock: u64,
    recent: usize,
}

impl Streams {
    pub(crate) fn new(rules: &Prefetch) -> Streams {
        let empty = Stream { page: u64::MAX, last: 0, trust: 0, ahead: 0, used: 0 };
        Streams { table: vec![empty; rules.streams], rules: rules.clone(), clock: 0, recent: 0 }
    }

    /// Note an access to `line`; answers the lines to bring in.
    pub(crate) fn access(&mut self, line: u64) -> Run {
        self.clock += 1;
        let page = line / LINES_PER_PAGE;
        let at = if self.table[self.recent].page == page {
            self.recent
        } else {
            match self.table.iter().position(|stream| stream.page == page) {
                Some(at) => at,
                None => return self.begin(line, page),
            }
        };
        self.recent = at;
        let stream = &mut self.table[at];
        stream.used = self.clock;
        let step = line as i64 - stream.last as i64;
        if step == 0 {
            return Run::default();
        }
        if step.abs() > REACH {
            // A jump inside the page: neither help nor harm to a stream that is trusted.
            stream.trust -= stream.trust.signum();
            stream.last = line;
            stream.ahead = line;
            return Run::default();
        }
        let direction = step.signum();
        stream.trust = if stream.trust.signum() == direction {
            (stream.trust + direction).clamp(-16, 16)
        } else {
            stream.ahead = line;
            direction
        };
        stream.last = line;
        self.extend(at, direction)
    }

    /// A page not seen before: perhaps the next of a stream.
    fn begin(&mut self, line: u64, page: u64) -> Run {
        let neighbour = self.table.iter().find(|stream| {
            let joins = stream.trust > 0 && stream.page.wrapping_add(1) == page
                || stream.trust < 0 && stream.page == page.wrapping_add(1);
            joins && stream.trust.abs() >= 4 && line.abs_diff(stream.last) <= 2 * REACH as u64
        });
        let (trust, ahead) = match neighbour {
            Some(stream) if self.rules.cross_page => (stream.trust, stream.ahead),
            Some(stream) => (stream.trust, line),
            None => (0, line),
        };
        let oldest = (0..self.table.len()).min_by_key(|at| self.table[*at].used).unwrap_or(0);
        self.table[oldest] = Stream { page, last: line, trust, ahead, used: self.clock };
        self.recent = oldest;
        if trust == 0 { Run::default() } else { self.extend(oldest, trust.signum()) }
    }

    /// Run further ahead of the last access, at most to the end of the page.
    fn extend(&mut self, at: usize, direction: i64) -> Run {
        let stream = &mut self.table[at];
        if stream.trust.abs() < 2 || self.rules.stream_distance == 0 {
            return Run::default();
        }
        let behind = (stream.ahead as i64 - stream.last as i64) * direction;
        if behind < 0 {
            stream.ahead = stream.last;
        }
        let distance = self.rules.stream_distance as i64;
        let mut limit = stream.last as i64 + direction * distance;
        if !self.rules.cross_page || stream.trust.abs() < 8 {
            let first = (stream.page * LINES_PER_PAGE) as i64;
            limit = limit.clamp(first, first + LINES_PER_PAGE as i64 - 1);
        }
        let room = (limit - stream.ahead as i64) * direction;
        let count = room.clamp(0, self.rules.stream_degree as i64);
        let first = stream.ahead.wrapping_add_signed(direction);
        stream.ahead = stream.ahead.wrapping_add_signed(direction * count);
        Run { first, step: direction, count: count as u64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Cpu;

    fn streams() -> Streams {
        let mut rules = Cpu::named("zen4").unwrap().prefetch;
        (rules.stream_distance, rules.stream_degree) = (8, 4);
        Streams::new(&rules)
    }

    #[test]
    fn runs_ahead_of_a_rising_stream_but_not_twice() {
        let mut streams = streams();
        let mut asked = std::collections::BTreeSet::new();
        for line in 640..680 {
            let run = streams.access(line);
            for at in 0..run.count {
                let wanted = run.first.wrapping_add_signed(run.step * at as i64);
                assert!(wanted > line, "{wanted} is not ahead of {line}");
                assert!(asked.insert(wanted), "{wanted} was asked for twice");
            }
        }
        assert!(asked.contains(&680));
    }

    #[test]
    fn scattered_accesses_start_no_stream() {
        let mut streams = streams();
        for at in 0..1000_u64 {
            assert_eq!(streams.access(at.wrapping_mul(0x9e37_79b9) % (1 << 20)).count, 0);
        }
    }
}

//! A path that carries one line in so many cycles: between caches, and to memory.

const RING: usize = 1024;

/// Transfers by time. Later requests may take an earlier gap, since the model sees loads in program
/// order and not in the order in which they issue.
pub(crate) struct Channel {
    /// For each stretch of `cycles_per_line` cycles, which stretch was taken.
    taken: Box<[u64; RING]>,
    cycles_per_line: u64,
    /// Stretches known to be taken.
    full: (u64, u64),
}

impl Channel {
    pub(crate) fn new(cycles_per_line: u64) -> Channel {
        Channel {
            taken: Box::new([u64::MAX; RING]),
            cycles_per_line: cycles_per_line.max(1),
            full: (0, 0),
        }
    }

    /// Carry a line at `cycle` or later; answers when.
    pub(crate) fn take(&mut self, cycle: u64) -> u64 {
        let wanted = cycle / self.cycles_per_line;
        let (from, to) = self.full;
        let begin = if wanted >= from && wanted < to { to } else { wanted };
        let mut at = begin;
        while self.taken[at as usize % RING] == at {
            at += 1;
        }
        self.taken[at as usize % RING] = at;
        self.full = if begin >= from && begin <= to { (from, at + 1) } else { (begin, at + 1) };
        cycle.max(at * self.cycles_per_line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_queue_and_take_gaps() {
        let mut channel = Channel::new(10);
        assert_eq!(channel.take(100), 100);
        assert_eq!(channel.take(100), 110);
        assert_eq!(channel.take(101), 120);
        assert_eq!(channel.take(45), 45);
        assert_eq!(channel.take(105), 130);
    }
}

//! The state of a pipeline in cycles from now on, so that equal states can be told: what is past by then has no effect
//! whenever it was.
//!
//! Cycles of the program, which all else is counted from, and the fetch unit are no part of it: whoever restores a state
//! has put these in place.

use super::{Pipeline, ports::Ports, scheduler::Scheduler, window::Window};

/// How far ahead of rename a state may reach that is taken down.
pub(super) const HORIZON: u64 = 1024;

impl Pipeline {
    /// Take the state down; answers whether that can be done.
    pub(super) fn take_down(&mut self, words: &mut Vec<u16>) -> bool {
        words.clear();
        let now = self.cycle;
        let farthest = self.retired.max(self.written).max(self.ports.top()).max(self.fetch.at().0);
        if farthest > now + HORIZON || self.retired + HORIZON < now {
            return false;
        }
        let (fetch, used) = self.fetch.from(now);
        words.extend([
            self.renamed as u16,
            self.retired_in_cycle as u16,
            self.retired.wrapping_sub(now) as u16,
            fetch.wrapping_sub(now) as u16,
            used as u16,
            self.written.saturating_sub(now) as u16,
        ]);
        // What is done and does not hold back retirement is as good as long done.
        let base = now.min(self.retired);
        let registers = self.registers[..self.named].iter();
        words.extend(registers.map(|cycle| cycle.saturating_sub(base) as u16));
        words.extend(self.unit_sets.iter().map(|set| {
            let cycle = self.units[usize::from(*set)];
            cycle.saturating_sub(now) as u16
        }));
        for window in [&self.reorder_buffer, &self.loads, &self.stores] {
            window.take_down(now, words);
        }
        for scheduler in &mut self.schedulers {
            scheduler.take_down(now, words);
        }
        self.ports.take_down(now, words);
        true
    }
}

impl Pipeline {
    /// Put a state in place that was taken down.
    pub(super) fn restore(&mut self, words: &[u16]) {
        let now = self.cycle;
        let mut words = words.iter().map(|word| u64::from(*word));
        let mut word = || words.next().unwrap_or_default();
        (self.renamed, self.retired_in_cycle) = (word(), word());
        // All others of the first six are in place.
        for _ in 2..6 {
            word();
        }
        let base = now.min(self.retired);
        for cycle in &mut self.registers[..self.named] {
            *cycle = base + word();
        }
        for set in &self.unit_sets {
            self.units[usize::from(*set)] = now + word();
        }
        for window in [&mut self.reorder_buffer, &mut self.loads, &mut self.stores] {
            window.restore(now, &mut word);
        }
        for scheduler in &mut self.schedulers {
            scheduler.restore(now, &mut word);
        }
        self.ports.restore(now, &mut words);
    }
}

impl Window {
    /// Entries that have not left, the last one first, as cycles and how many leave in them.
    fn take_down(&self, now: u64, words: &mut Vec<u16>) {
        let mut last = now;
        for cycle in self.latest() {
            if cycle <= now {
                break;
            }
            if cycle == last {
                *words.last_mut().expect("a count") += 1;
            } else {
                words.extend([(cycle - now) as u16, 1]);
                last = cycle;
            }
        }
        words.push(0);
    }

    fn restore(&mut self, now: u64, word: &mut impl FnMut() -> u64) {
        let (mut cycle, mut left, mut more) = (now, 0, true);
        self.set_latest(std::iter::repeat_with(|| {
            if left == 0 && more {
                let ahead = word();
                more = ahead > 0;
                (cycle, left) = if more { (now + ahead, word()) } else { (now, 0) };
            }
            left = left.saturating_sub(1);
            cycle
        }));
        if more {
            // All entries are taken: what ends the list is still to be read.
            word();
        }
    }
}

impl Scheduler {
    /// Entries that have not left, as cycles and how many leave in them.
    fn take_down(&mut self, now: u64, words: &mut Vec<u16>) {
        self.each_later(now, |ahead, count| words.extend([ahead as u16, count]));
        words.push(0);
    }

    fn restore(&mut self, now: u64, word: &mut impl FnMut() -> u64) {
        self.clear(now);
        loop {
            let cycle = word();
            if cycle == 0 {
                return;
            }
            self.put(now + cycle, word() as u16);
        }
    }
}

impl Ports {
    /// The ports that are taken in each cycle.
    fn take_down(&self, now: u64, words: &mut Vec<u16>) {
        words.extend((now + 1..=self.top()).map(|cycle| self.taken(cycle)));
    }

    fn restore(&mut self, now: u64, words: &mut dyn Iterator<Item = u64>) {
        for (cycle, taken) in (now + 1..).zip(words) {
            self.put(cycle, taken as u16);
        }
    }
}

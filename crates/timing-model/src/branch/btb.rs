//! Branch target buffer: whether the front end knew of a taken branch in time.

/// Two levels of branch addresses, direct mapped.
pub(crate) struct TargetBuffer {
    first: Vec<u64>,
    second: Vec<u64>,
    second_bubble: u64,
    miss_bubble: u64,
}

impl TargetBuffer {
    /// `entries` are powers of two.
    pub(crate) fn new(entries: [usize; 2], second_bubble: u64, miss_bubble: u64) -> TargetBuffer {
        TargetBuffer {
            first: vec![0; entries[0]],
            second: vec![0; entries[1]],
            second_bubble,
            miss_bubble,
        }
    }

    /// Cycles lost to a taken branch at `address`.
    #[inline(always)]
    pub(crate) fn taken(&mut self, address: u64) -> u64 {
        let hash = address ^ address >> 14;
        let first = hash as usize & (self.first.len() - 1);
        if self.first[first] == address {
            return 0;
        }
        self.first[first] = address;
        let second = hash as usize & (self.second.len() - 1);
        if self.second[second] == address {
            return self.second_bubble;
        }
        self.second[second] = address;
        self.miss_bubble
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_branch_is_known_after_its_first_time() {
        let mut buffer = TargetBuffer::new([16, 256], 2, 9);
        assert_eq!(buffer.taken(0x401_000), 9);
        assert_eq!(buffer.taken(0x401_000), 0);
        assert_eq!(buffer.taken(0x401_010), 9);
        assert_eq!(buffer.taken(0x401_000), 2);
    }
}

//! Return addresses.

/// A stack of return addresses that forgets the oldest.
pub(crate) struct ReturnStack {
    addresses: Vec<u64>,
    top: usize,
}

impl ReturnStack {
    /// `entries` is a power of two.
    pub(crate) fn new(entries: usize) -> ReturnStack {
        ReturnStack { addresses: vec![0; entries], top: 0 }
    }

    #[inline(always)]
    pub(crate) fn push(&mut self, address: u64) {
        self.top = (self.top + 1) & (self.addresses.len() - 1);
        self.addresses[self.top] = address;
    }

    #[inline(always)]
    pub(crate) fn pop(&mut self) -> u64 {
        let address = self.addresses[self.top];
        self.top = self.top.wrapping_sub(1) & (self.addresses.len() - 1);
        address
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn returns_come_back_in_reverse_and_the_oldest_are_forgotten() {
        let mut stack = ReturnStack::new(4);
        (1..=5).for_each(|address| stack.push(address));
        let popped: Vec<u64> = (0..4).map(|_| stack.pop()).collect();
        assert_eq!(popped, [5, 4, 3, 2]);
        assert_ne!(stack.pop(), 1);
    }
}

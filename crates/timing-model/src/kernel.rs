//! What system calls cost, by Linux x86-64 number, and what they do to the program's memory.

use crate::cpu::Kernel;

const READ: i64 = 0;
const WRITE: i64 = 1;
const MMAP: i64 = 9;
const MPROTECT: i64 = 10;
const MUNMAP: i64 = 11;
const BRK: i64 = 12;
const READV: i64 = 19;
const WRITEV: i64 = 20;
const MREMAP: i64 = 25;
const MADVISE: i64 = 28;
const MADV_DONTNEED: u64 = 4;

/// Memory that a system call gave back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Released {
    pub(crate) address: u64,
    pub(crate) bytes: u64,
}

/// Charges system calls.
pub(crate) struct SystemCalls {
    rules: Kernel,
    end_of_heap: u64,
    /// Cycles of calls since they were last taken.
    due: u64,
}

impl SystemCalls {
    pub(crate) fn new(rules: &Kernel) -> SystemCalls {
        SystemCalls { rules: rules.clone(), end_of_heap: 0, due: 0 }
    }

    /// A call returned `result`; answers what memory it gave back.
    pub(crate) fn done(
        &mut self,
        number: i64,
        arguments: [u64; 3],
        result: i64,
    ) -> Option<Released> {
        self.due += self.rules.system_call;
        let [first, second, third] = arguments;
        let succeeded = !(-4095..0).contains(&result);
        match number {
            READ | WRITE | READV | WRITEV => {
                let bytes = u64::try_from(result).unwrap_or(0);
                self.due += self.rules.transfer + bytes / self.rules.transfer_bytes_per_cycle;
                None
            }
            MMAP | MPROTECT => {
                self.due += self.rules.mapping;
                None
            }
            MUNMAP if succeeded => {
                self.due += self.rules.mapping;
                Some(Released { address: first, bytes: second })
            }
            MREMAP if succeeded => {
                self.due += self.rules.mapping;
                // A block that grew where it was, or moved with its pages, releases nothing that
                // will be touched again.
                (third < second).then(|| Released { address: first + third, bytes: second - third })
            }
            MADVISE if third == MADV_DONTNEED && succeeded => {
                self.due += self.rules.mapping;
                Some(Released { address: first, bytes: second })
            }
            BRK => {
                self.due += self.rules.mapping;
                let (old, new) = (self.end_of_heap, result as u64);
                self.end_of_heap = new;
                (new < old).then(|| Released { address: new, bytes: old - new })
            }
            _ => None,
        }
    }

    /// Cycles of the calls since the last time.
    pub(crate) fn take_due(&mut self) -> u64 {
        std::mem::take(&mut self.due)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Cpu;

    #[test]
    fn a_long_write_costs_more_and_a_shrinking_heap_gives_pages_back() {
        let rules = Cpu::named("zen4").unwrap().kernel;
        let mut calls = SystemCalls::new(&rules);
        assert_eq!(calls.done(WRITE, [1, 0, 64], 64), None);
        let short = calls.take_due();
        calls.done(WRITE, [1, 0, 1 << 20], 1 << 20);
        assert!(calls.take_due() > short);
        assert_eq!(calls.done(BRK, [0; 3], 0x60_0000), None);
        let released = Some(Released { address: 0x50_0000, bytes: 0x10_0000 });
        assert_eq!(calls.done(BRK, [0x50_0000, 0, 0], 0x50_0000), released);
    }

    #[test]
    fn a_call_that_fails_gives_no_pages_back() {
        let rules = Cpu::named("zen4").unwrap().kernel;
        let mut calls = SystemCalls::new(&rules);
        let (first, second) = (0x40_0000, 0x2000);
        for (number, third, bytes) in
            [(MUNMAP, 0, second), (MREMAP, 0x1000, 0x1000), (MADVISE, MADV_DONTNEED, second)]
        {
            let arguments = [first, second, third];
            assert_eq!(calls.done(number, arguments, -22), None);
            let failed = calls.take_due();
            let address = first + second - bytes;
            assert_eq!(calls.done(number, arguments, 0), Some(Released { address, bytes }));
            assert!(calls.take_due() > failed, "{number}");
        }
    }
}

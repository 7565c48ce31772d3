//! Which pages the program has touched, for page faults.

use std::collections::BTreeMap;

/// Pages of a region: one bit each.
const REGION_PAGES: u64 = 512;
type Region = [u64; 8];

/// The pages that are mapped in, one bit each.
#[derive(Default)]
pub(crate) struct Pages {
    regions: BTreeMap<u64, Region>,
}

impl Pages {
    /// Touch a page; answers whether that was the first time.
    pub(crate) fn touch(&mut self, page: u64) -> bool {
        let region = self.regions.entry(page / REGION_PAGES).or_insert([0; 8]);
        let word = &mut region[(page % REGION_PAGES / 64) as usize];
        let bit = 1 << (page % 64);
        let first = *word & bit == 0;
        *word |= bit;
        first
    }

    /// Give back `count` pages from `first` on: their next touch faults again.
    pub(crate) fn release(&mut self, first: u64, count: u64) {
        let end = first.saturating_add(count);
        let regions = first / REGION_PAGES..=end.saturating_sub(1) / REGION_PAGES;
        let mut emptied = Vec::new();
        for (number, region) in self.regions.range_mut(regions) {
            let base = number * REGION_PAGES;
            for page in first.max(base)..end.min(base + REGION_PAGES) {
                region[(page % REGION_PAGES / 64) as usize] &= !(1 << (page % 64));
            }
            if *region == [0; 8] {
                emptied.push(*number);
            }
        }
        for number in emptied {
            self.regions.remove(&number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_fault_once_until_they_are_released() {
        let mut pages = Pages::default();
        assert!(pages.touch(1000));
        assert!(!pages.touch(1000));
        assert!(pages.touch(1023) && pages.touch(1024));
        pages.release(1001, 23);
        assert!(!pages.touch(1000) && pages.touch(1023) && !pages.touch(1024));
    }
}

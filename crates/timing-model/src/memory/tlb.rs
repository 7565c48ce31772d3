//! Translation look-aside buffers.

use super::cache::Cache;
use crate::cpu::{Replacement, Tlb};

/// Where a page's translation was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Translation {
    First,
    Second,
    Walk,
}

/// Two levels of translations.
pub(crate) struct Buffers {
    first: Cache,
    second: Cache,
}

impl Buffers {
    pub(crate) fn new(shape: &Tlb) -> Buffers {
        Buffers {
            first: Cache::with(shape.l1_entries, shape.l1_ways, Replacement::Lru),
            second: Cache::with(shape.l2_entries, shape.l2_ways, Replacement::Lru),
        }
    }

    /// Look a page up, and keep its translation.
    #[inline(always)]
    pub(crate) fn look(&mut self, page: u64) -> Translation {
        if self.first.find(page).is_some() { Translation::First } else { self.miss(page) }
    }

    #[inline(never)]
    fn miss(&mut self, page: u64) -> Translation {
        self.first.insert(page, 0, 0);
        if self.second.find(page).is_some() {
            return Translation::Second;
        }
        self.second.insert(page, 0, 0);
        Translation::Walk
    }

    /// Forget everything, as after an unmapping.
    pub(crate) fn clear(&mut self) {
        self.first.clear();
        self.second.clear();
    }
}

//! What single edits made of programs near the target: the neighbourhood of each.

use crate::proposer::Judged;
use std::sync::Arc;

/// Neighbourhoods that are remembered.
const NEIGHBOURHOODS: usize = 16;
/// Text of one neighbourhood's children, in bytes, up to which they are remembered.
const TEXT: usize = 1_000_000;

/// A program and what single edits made of it.
#[derive(Debug)]
pub(crate) struct Neighbourhood {
    pub(crate) base: Arc<Judged>,
    /// What was made, and by which edit.
    pub(crate) children: Vec<(Arc<Judged>, usize)>,
    /// Edits tried, those that did not compile included.
    pub(crate) tried: usize,
}

impl Neighbourhood {
    /// Children that are remembered at most: fewer of a large program.
    pub(crate) fn room(&self) -> usize {
        (TEXT / self.base.text.len().max(1)).clamp(24, 480)
    }
}

/// The neighbourhoods of one search.
#[derive(Debug, Default)]
pub(crate) struct Neighbours {
    all: Vec<Neighbourhood>,
}

impl Neighbours {
    /// A single `edit` of `base` gave `child`, or nothing that compiles.
    pub(crate) fn add(&mut self, base: &Arc<Judged>, edit: usize, child: Option<&Arc<Judged>>) {
        let known = self.all.iter().position(|one| Arc::ptr_eq(&one.base, base));
        let index = known.unwrap_or_else(|| {
            self.make_room();
            self.all.push(Neighbourhood { base: base.clone(), children: Vec::new(), tried: 0 });
            self.all.len() - 1
        });
        let known = &mut self.all[index];
        known.tried += 1;
        if let Some(child) = child
            && child.program.is_some()
            && known.children.len() < known.room()
            && child.vector != base.vector
        {
            known.children.push((child.clone(), edit));
        }
    }

    /// Forgets the one that is known least.
    fn make_room(&mut self) {
        if self.all.len() < NEIGHBOURHOODS {
            return;
        }
        let worth = |one: &Neighbourhood| (one.children.len(), -one.base.fitness);
        let least = (0..self.all.len()).min_by(|a, b| {
            let (a, b) = (worth(&self.all[*a]), worth(&self.all[*b]));
            a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
        });
        if let Some(least) = least {
            self.all.swap_remove(least);
        }
    }

    /// The neighbourhood of this program, where one is known.
    pub(crate) fn of(&self, base: &Arc<Judged>) -> Option<&Neighbourhood> {
        self.all.iter().find(|one| Arc::ptr_eq(&one.base, base))
    }

    /// Those of a lineage, the best known first.
    pub(crate) fn of_lineage(&self, lineage: u64) -> Vec<&Neighbourhood> {
        let mut some: Vec<&Neighbourhood> =
            self.all.iter().filter(|one| one.base.lineage == lineage).collect();
        some.sort_by_key(|one| std::cmp::Reverse(one.children.len()));
        some
    }
}

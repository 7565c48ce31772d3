//! Natural loops of a function, found as LLVM's `LoopInfo` finds them.

use crate::{Block, Function};
use std::collections::HashMap;

/// A weight of ten for every loop around a block: an estimate of how often it runs that needs no run
/// (Wagner et al., PLDI 1994, use five; LLVM's own static frequencies come near to it). Beyond nine
/// loops it stays as it is, so that sums of weights are exact.
#[must_use]
pub fn loop_weight(depth: u32) -> f64 {
    10_f64.powi(depth.min(9) as i32)
}

/// The natural loops of a function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoopNest {
    /// How many loops are around each block, in the order of [`Function::blocks`]; 0 for a block that
    /// cannot be reached.
    pub depths: Vec<u32>,
    /// The loops, inner ones before those around them: of each the blocks that jump back to its header, which
    /// dominates them, as places in the order of [`Function::blocks`].
    pub latches: Vec<Vec<usize>>,
    /// The header of each, in the same order.
    pub headers: Vec<usize>,
}

impl LoopNest {
    /// How deep the deepest loop lies; 0 without loops.
    #[must_use]
    pub fn deepest(&self) -> u32 {
        self.depths.iter().copied().max().unwrap_or(0)
    }
}

impl<'m> Function<'m> {
    /// Its natural loops. What jumps into the middle of a cycle makes it none, as for LLVM.
    #[must_use]
    pub fn loop_nest(self) -> LoopNest {
        let blocks: Vec<Block<'m>> = self.blocks().collect();
        let places: HashMap<Block<'m>, usize> =
            blocks.iter().enumerate().map(|(place, block)| (*block, place)).collect();
        let edges = blocks.iter().map(|block| {
            block.successors().filter_map(|target| places.get(&target).copied()).collect()
        });
        nest(&edges.collect::<Vec<Vec<usize>>>())
    }
}

/// What no block is.
const NONE: usize = usize::MAX;

/// The loops of a graph by the successors of each of its nodes; the first is where it is entered.
fn nest(successors: &[Vec<usize>]) -> LoopNest {
    let count = successors.len();
    let mut found = LoopNest { depths: vec![0; count], latches: Vec::new(), headers: Vec::new() };
    if count == 0 {
        return found;
    }
    let postorder = postorder(successors);
    let mut number = vec![NONE; count];
    for (at, &block) in postorder.iter().enumerate() {
        number[block] = at;
    }
    let mut predecessors = vec![Vec::new(); count];
    for &block in &postorder {
        for &target in &successors[block] {
            predecessors[target].push(block);
        }
    }
    let dominance = Dominance::new(&postorder, &number, &predecessors);
    // Per loop its header and the loop around it; per block the innermost loop known so far.
    let mut headers: Vec<usize> = Vec::new();
    let mut around: Vec<usize> = Vec::new();
    let mut outermost: Vec<usize> = Vec::new();
    let mut innermost = vec![NONE; count];
    // Inner headers come before outer ones.
    for &header in &postorder {
        let mut work: Vec<usize> = predecessors[header]
            .iter()
            .copied()
            .filter(|&block| dominance.holds(header, block))
            .collect();
        if work.is_empty() {
            continue;
        }
        let own = headers.len();
        found.latches.push(work.clone());
        headers.push(header);
        around.push(NONE);
        outermost.push(own);
        while let Some(block) = work.pop() {
            if innermost[block] == NONE {
                innermost[block] = own;
                if block != header {
                    work.extend(&predecessors[block]);
                }
                continue;
            }
            let outer = root(&mut outermost, innermost[block]);
            if outer != own {
                around[outer] = own;
                outermost[outer] = own;
                work.extend(&predecessors[headers[outer]]);
            }
        }
    }
    // An outer loop stands behind those that it holds.
    let mut depths = vec![1; headers.len()];
    for one in (0..headers.len()).rev() {
        if around[one] != NONE {
            depths[one] = depths[around[one]] + 1;
        }
    }
    for (depth, &one) in found.depths.iter_mut().zip(&innermost) {
        *depth = if one == NONE { 0 } else { depths[one] };
    }
    found.headers = headers;
    found
}

/// The outermost loop around one, remembered for all on the way.
fn root(outermost: &mut [usize], one: usize) -> usize {
    let mut top = one;
    while outermost[top] != top {
        top = outermost[top];
    }
    let mut at = one;
    while outermost[at] != top {
        at = std::mem::replace(&mut outermost[at], top);
    }
    top
}

/// The blocks that can be reached, each after those that follow it (but for cycles).
fn postorder(successors: &[Vec<usize>]) -> Vec<usize> {
    let mut order = Vec::new();
    let mut seen = vec![false; successors.len()];
    seen[0] = true;
    let mut path = vec![(0, 0)];
    while let Some((block, next)) = path.last_mut() {
        match successors[*block].get(*next) {
            Some(&target) => {
                *next += 1;
                if !std::mem::replace(&mut seen[target], true) {
                    path.push((target, 0));
                }
            }
            None => {
                order.push(*block);
                path.pop();
            }
        }
    }
    order
}

/// Which block lies on every way to another: when a walk of the dominator tree enters and leaves each.
struct Dominance {
    entered: Vec<usize>,
    left: Vec<usize>,
}

impl Dominance {
    /// Cooper, Harvey and Kennedy, A Simple, Fast Dominance Algorithm, 2001.
    fn new(postorder: &[usize], number: &[usize], predecessors: &[Vec<usize>]) -> Dominance {
        let count = number.len();
        let mut dominator = vec![NONE; count];
        dominator[0] = 0;
        let mut changed = true;
        while changed {
            changed = false;
            for &block in postorder.iter().rev().skip(1) {
                let known = predecessors[block].iter().copied().filter(|&p| dominator[p] != NONE);
                let common = known.reduce(|mut one, mut other| {
                    while one != other {
                        while number[one] < number[other] {
                            one = dominator[one];
                        }
                        while number[other] < number[one] {
                            other = dominator[other];
                        }
                    }
                    one
                });
                if let Some(common) = common.filter(|&common| dominator[block] != common) {
                    dominator[block] = common;
                    changed = true;
                }
            }
        }
        let mut children = vec![Vec::new(); count];
        for &block in postorder.iter().rev().skip(1) {
            children[dominator[block]].push(block);
        }
        let (mut entered, mut left) = (vec![NONE; count], vec![0; count]);
        let mut clock = 0;
        entered[0] = 0;
        let mut path = vec![(0, 0)];
        while let Some((block, next)) = path.last_mut() {
            clock += 1;
            match children[*block].get(*next) {
                Some(&child) => {
                    *next += 1;
                    entered[child] = clock;
                    path.push((child, 0));
                }
                None => {
                    left[*block] = clock;
                    path.pop();
                }
            }
        }
        Dominance { entered, left }
    }

    /// Whether every way to `other`, which can be reached, leads over `one`.
    fn holds(&self, one: usize, other: usize) -> bool {
        self.entered[one] <= self.entered[other] && self.left[other] <= self.left[one]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn depths(edges: &[&[usize]]) -> (Vec<u32>, usize) {
        let found = nest(&edges.iter().map(|targets| targets.to_vec()).collect::<Vec<_>>());
        (found.depths, found.latches.len())
    }

    #[test]
    fn straight_lines_and_branches_are_no_loops() {
        assert_eq!(depths(&[]), (vec![], 0));
        assert_eq!(depths(&[&[]]), (vec![0], 0));
        assert_eq!(depths(&[&[1, 2], &[3], &[3], &[]]), (vec![0; 4], 0));
    }

    #[test]
    fn a_block_that_jumps_to_itself_is_a_loop() {
        assert_eq!(depths(&[&[1], &[1, 2], &[]]), (vec![0, 1, 0], 1));
    }

    #[test]
    fn loops_within_a_loop_are_deeper_and_stand_beside_each_other() {
        // 1 is around 2 (by itself) and around 3 and 4; 5 ends it, 6 is behind it.
        let edges: [&[usize]; 7] = [&[1], &[2], &[2, 3], &[4], &[3, 5], &[1, 6], &[]];
        assert_eq!(depths(&edges), (vec![0, 1, 2, 2, 2, 1, 0], 3));
        let found = nest(&edges.map(<[usize]>::to_vec));
        assert_eq!(found.latches.last(), Some(&vec![5]));
        assert_eq!(found.headers.last(), Some(&1));
    }

    #[test]
    fn two_jumps_to_one_header_are_one_loop() {
        assert_eq!(depths(&[&[1], &[2, 3], &[1], &[1, 4], &[]]), (vec![0, 1, 1, 1, 0], 1));
    }

    #[test]
    fn a_cycle_that_is_entered_in_two_places_is_none() {
        assert_eq!(depths(&[&[1, 2], &[2], &[1, 3], &[]]), (vec![0; 4], 0));
    }

    #[test]
    fn what_cannot_be_reached_is_in_no_loop() {
        assert_eq!(depths(&[&[1], &[], &[3], &[2]]), (vec![0; 4], 0));
        // Nor does it make one of what can.
        assert_eq!(depths(&[&[1], &[], &[1, 2]]), (vec![0; 3], 0));
    }

    #[test]
    fn nests_of_any_depth_are_counted_in_little_time() {
        let depth = 5000;
        let edges: Vec<Vec<usize>> = (0..=2 * depth)
            .map(|block| match block {
                _ if block < depth => vec![block + 1],
                _ if block == 2 * depth => vec![],
                _ => vec![block + 1, 2 * depth - 1 - block],
            })
            .collect();
        let found = nest(&edges);
        assert_eq!((found.latches.len(), found.deepest()), (depth, depth as u32));
        assert_eq!(loop_weight(found.deepest()), 1e9);
    }
}

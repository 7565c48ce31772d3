//! Whether values are there before they are used, and blocks say truly where control comes from: what LLVM's verifier looks
//! at in any body. What is not in order here is not read.

use crate::{Body, Constant, Flat, Kind, Operand, Unread};
use std::collections::HashSet;

const BROKEN: Unread = Unread::Broken("the flow of a function");
const INVOKE: u32 = 5;
const SWITCH: u32 = 3;
const PHI: u32 = 44;
const LANDING_PAD: u32 = 59;
const NONE: u32 = u32::MAX;

/// What is held while a body is looked at; kept from one to the next for its memory alone.
#[derive(Default)]
pub(crate) struct Flow {
    /// The block of each instruction.
    block_of: Vec<u32>,
    /// Predecessors, block after block, one for each edge, and where those of each block end.
    before: Vec<u32>,
    ends: Vec<u32>,
    /// Reachable blocks, each after those that a walk into the depth leaves later; and each block's place there.
    order: Vec<u32>,
    place: Vec<u32>,
    /// By place: the place of the nearest block that all ways here lead through.
    dominator: Vec<u32>,
    /// By place: when a walk over the tree of dominators comes and goes.
    spans: Vec<(u32, u32)>,
    phi: Vec<u32>,
}

impl Flow {
    pub(crate) fn check(&mut self, flat: &Flat, body: &Body) -> Result<(), Unread> {
        self.edges(body);
        self.spans.clear();
        self.order.clear();
        if !self.before_of(0).is_empty() {
            return Err(BROKEN);
        }
        let arguments = flat.arguments(body.function).len() as u32;
        // But for its last, all that the first block has is there in every other.
        let everywhere = body.block(0).end - 1;
        for block in 0..body.blocks.len() as u32 {
            let range = body.block(block);
            let mut begins = true;
            for place in range.clone() {
                let instruction = &body.instructions[place];
                match instruction.opcode {
                    PHI if !begins || block == 0 => return Err(BROKEN),
                    PHI => self.phi(body, place, block)?,
                    LANDING_PAD if !begins => return Err(BROKEN),
                    SWITCH => cases(flat, body, place)?,
                    INVOKE => catches(body, place)?,
                    _ => {}
                }
                begins &= instruction.opcode == PHI;
                for (at, operand) in body.operands(instruction).iter().enumerate() {
                    let Operand::Local(local) = *operand else { continue };
                    let Some(defined) = local.checked_sub(arguments) else { continue };
                    let defined = defined as usize;
                    let starts = if defined < everywhere { 0 } else { range.start };
                    if instruction.opcode != PHI && (starts..place).contains(&defined) {
                        continue;
                    }
                    let use_block = match instruction.opcode {
                        PHI => body.extras(instruction)[at],
                        _ => block,
                    };
                    let is_phi = instruction.opcode == PHI;
                    let user = if is_phi { usize::MAX } else { place };
                    self.use_of(body, defined, use_block, user, is_phi.then_some(block))?;
                }
            }
        }
        Ok(())
    }

    fn edges(&mut self, body: &Body) {
        let blocks = body.blocks.len();
        self.block_of.clear();
        self.ends.clear();
        self.ends.resize(blocks + 1, 0);
        for block in 0..blocks as u32 {
            let range = body.block(block);
            self.block_of.resize(range.end, block);
            for next in body.successors(block) {
                self.ends[next as usize] += 1;
            }
        }
        let mut sum = 0;
        for count in &mut self.ends {
            let begin = sum;
            sum += *count;
            *count = begin;
        }
        self.before.clear();
        self.before.resize(sum as usize, 0);
        for block in 0..blocks as u32 {
            for next in body.successors(block) {
                let end = &mut self.ends[next as usize];
                self.before[*end as usize] = block;
                *end += 1;
            }
        }
    }

    fn before_of(&self, block: u32) -> &[u32] {
        let begin = block.checked_sub(1).map_or(0, |before| self.ends[before as usize]);
        &self.before[begin as usize..self.ends[block as usize] as usize]
    }

    /// One value comes in for each edge, and the same over edges from one block.
    fn phi(&mut self, body: &Body, place: usize, block: u32) -> Result<(), Unread> {
        let instruction = &body.instructions[place];
        let from = body.extras(instruction);
        let mut sorted = std::mem::take(&mut self.phi);
        sorted.clear();
        sorted.extend_from_slice(from);
        sorted.sort_unstable();
        // Predecessors were gathered in order.
        let fits = sorted.as_slice() == self.before_of(block);
        let repeats = sorted.windows(2).any(|pair| pair[0] == pair[1]);
        self.phi = sorted;
        if !fits {
            return Err(BROKEN);
        }
        if repeats {
            let operands = body.operands(instruction);
            let mut known = std::collections::HashMap::new();
            for (block, operand) in from.iter().zip(operands) {
                if *known.entry(*block).or_insert(*operand) != *operand {
                    return Err(Unread::Unknown("values that come together"));
                }
            }
        }
        Ok(())
    }

    /// Whether a value is there where it is used: before `user` in `block`, or at the block's end for a phi of `phi`.
    fn use_of(
        &mut self,
        body: &Body,
        defined: usize,
        block: u32,
        user: usize,
        phi: Option<u32>,
    ) -> Result<(), Unread> {
        let home = self.block_of[defined];
        let invokes = body.instructions[defined].opcode == INVOKE;
        if home == block && !invokes {
            return match defined < user || !self.reaches(body, block) {
                true => Ok(()),
                false => Err(BROKEN),
            };
        }
        if home == 0 && !invokes || !self.reaches(body, block) {
            return Ok(());
        }
        if !self.reaches(body, home) {
            return Err(BROKEN);
        }
        if invokes {
            // It is there only where the call returned.
            let normal = body.successors(home).next().unwrap_or(0);
            if phi == Some(normal) && block == home && self.before_of(normal).len() > 1 {
                let edges = body.successors(home).filter(|next| *next == normal).count();
                return if edges == 1 { Ok(()) } else { Err(BROKEN) };
            }
            let alone = self.before_of(normal).len() == 1;
            let there = phi == Some(normal) && block == home || self.dominates(normal, block);
            return match alone && there {
                true => Ok(()),
                false => Err(Unread::Unknown("the value of an invoke")),
            };
        }
        match self.dominates(home, block) {
            true => Ok(()),
            false => Err(BROKEN),
        }
    }

    fn reaches(&mut self, body: &Body, block: u32) -> bool {
        if self.order.is_empty() {
            self.walk(body);
            self.dominators();
        }
        self.place[block as usize] != NONE
    }

    /// Blocks in the order that a walk into the depth leaves them, turned round.
    fn walk(&mut self, body: &Body) {
        self.place.clear();
        self.place.resize(body.blocks.len(), NONE);
        let mut stack = vec![(0, body.successors(0))];
        // Any number that says it was met.
        self.place[0] = 0;
        while let Some((block, next)) = stack.last_mut() {
            match next.next() {
                Some(next) if self.place[next as usize] == NONE => {
                    self.place[next as usize] = 0;
                    stack.push((next, body.successors(next)));
                }
                Some(_) => {}
                None => {
                    self.order.push(*block);
                    stack.pop();
                }
            }
        }
        self.order.reverse();
        for (place, block) in self.order.iter().enumerate() {
            self.place[*block as usize] = place as u32;
        }
    }

    /// Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm".
    fn dominators(&mut self) {
        let count = self.order.len();
        self.dominator.clear();
        self.dominator.resize(count, NONE);
        self.dominator[0] = 0;
        let mut changed = true;
        while changed {
            changed = false;
            for place in 1..count {
                let mut found = NONE;
                for before in self.before_of(self.order[place]) {
                    let before = self.place[*before as usize];
                    if before == NONE || self.dominator[before as usize] == NONE {
                        continue;
                    }
                    found = if found == NONE { before } else { self.meet(found, before) };
                }
                changed |= self.dominator[place] != found;
                self.dominator[place] = found;
            }
        }
        // A block's dominator has a lower place: sizes of trees from the last, then where each begins.
        let mut sizes = vec![1_u32; count];
        for place in (1..count).rev() {
            sizes[self.dominator[place] as usize] += sizes[place];
        }
        self.spans.resize(count, (0, sizes[0]));
        let mut next: Vec<u32> = vec![1; count];
        for place in 1..count {
            let above = self.dominator[place] as usize;
            let begin = next[above];
            next[above] += sizes[place];
            next[place] = begin + 1;
            self.spans[place] = (begin, begin + sizes[place]);
        }
    }

    fn meet(&self, mut one: u32, mut other: u32) -> u32 {
        while one != other {
            match one > other {
                true => one = self.dominator[one as usize],
                false => other = self.dominator[other as usize],
            }
        }
        one
    }

    /// Whether all ways to a block that is reached lead through another.
    fn dominates(&self, above: u32, below: u32) -> bool {
        let (above, below) = (self.place[above as usize], self.place[below as usize]);
        if above == NONE || below == NONE {
            return below == NONE;
        }
        let (begin, end) = self.spans[above as usize];
        (begin..end).contains(&self.spans[below as usize].0)
    }
}

/// No case stands twice.
fn cases(flat: &Flat, body: &Body, place: usize) -> Result<(), Unread> {
    let mut seen = HashSet::new();
    for case in body.extras(&body.instructions[place]) {
        let Kind::Constant(constant) = flat.values[*case as usize].kind else { return Err(BROKEN) };
        let is_new = match flat.constants[constant as usize] {
            Constant::Integer(number) => seen.insert((number, &[][..])),
            Constant::Wide(text) => seen.insert((0, flat.bytes(text))),
            _ => false,
        };
        if !is_new {
            return Err(BROKEN);
        }
    }
    Ok(())
}

/// Where control goes when the callee throws, something catches.
fn catches(body: &Body, place: usize) -> Result<(), Unread> {
    let mut blocks =
        body.operands(&body.instructions[place]).iter().filter_map(|operand| match operand {
            Operand::Block(block) => Some(*block),
            _ => None,
        });
    let unwind = blocks.next_back().ok_or(BROKEN)?;
    let mut first = body.block(unwind).map(|place| body.instructions[place].opcode);
    match first.find(|opcode| *opcode != PHI) {
        Some(LANDING_PAD | 64 | 65) => Ok(()),
        _ => Err(BROKEN),
    }
}

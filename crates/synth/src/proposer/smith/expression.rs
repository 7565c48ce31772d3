//! Expressions, which may have any type of number, and set nothing.

use super::{
    body::Body,
    program::{NUMBERS, Writer},
    safe::{self, Safe},
};
use rand::{Rng as _, seq::IndexedRandom};

/// How often an operator is drawn anew that costs more than is left.
const TRIES: usize = 8;

impl Writer<'_> {
    /// A number of this type; small ones are more likely.
    pub(super) fn constant(&mut self, ty: &'static str) -> String {
        let (bits, suffix) = match ty {
            "char" => (7, ""),
            "uchar" => (8, ""),
            "short" => (15, ""),
            "ushort" => (16, ""),
            "int" => (31, ""),
            "uint" => (32, "U"),
            "long" => (63, "L"),
            _ => (64, "UL"),
        };
        match self.rng.random_range(0..4) {
            0 => format!("{}{suffix}", self.rng.random_range(0..10)),
            1 if !ty.starts_with('u') => format!("(-{}{suffix})", self.rng.random_range(1..10)),
            _ => format!("0x{:X}{suffix}", self.rng.random::<u64>() >> (64 - bits)),
        }
    }
}

impl Body<'_, '_> {
    /// An expression of some operators.
    pub(super) fn value(&mut self) -> String {
        let depth = self.rng().random_range(1..=4);
        self.expression(depth)
    }

    /// A constant, a counter or what a place holds.
    pub(super) fn leaf(&mut self) -> String {
        match self.rng().random_range(0..20) {
            0..6 => {
                let ty = self.one_of(&NUMBERS[4..]);
                self.writer.constant(ty)
            }
            6..9 if !self.scope.counters.is_empty() => {
                let counter = self.scope.counters.choose(self.writer.rng);
                counter.map(|counter| counter.name.clone()).expect("there is one")
            }
            _ => self.place().path,
        }
    }

    /// One with operators in each other up to `depth`, as far as there is something left to spend on them.
    pub(super) fn expression(&mut self, depth: usize) -> String {
        if depth == 0 || self.rng().random_bool(0.1) {
            return self.leaf();
        }
        for _ in 0..TRIES {
            match self.rng().random_range(0..20) {
                0..8 => {
                    if let Some(safe) = self.safe() {
                        let [left, right] = self.operands(depth);
                        return format!("{}({left}, {right})", safe.name());
                    }
                }
                8..11 if self.spend(1, 0) => {
                    let operator = self.one_of(&["&", "|", "^"]);
                    return self.binary(operator, depth);
                }
                11..15 if self.spend(0, 1) => {
                    let operator = self.one_of(&["<", ">", "<=", ">=", "==", "!="]);
                    return self.binary(operator, depth);
                }
                15 => {
                    let operator = self.one_of(&["&&", "||"]);
                    return self.binary(operator, depth);
                }
                16 => {
                    let operator = self.one_of(&["!", "~"]);
                    return format!("({operator}{})", self.expression(depth - 1));
                }
                17 => {
                    let ty = self.writer.number();
                    return format!("(({ty}){})", self.expression(depth - 1));
                }
                18 => {
                    let condition = self.expression(depth - 1);
                    let [left, right] = self.operands(depth);
                    return format!("({condition} ? {left} : {right})");
                }
                _ => {}
            }
        }
        self.leaf()
    }

    fn binary(&mut self, operator: &str, depth: usize) -> String {
        let [left, right] = self.operands(depth);
        format!("({left} {operator} {right})")
    }

    fn operands(&mut self, depth: usize) -> [String; 2] {
        [(); 2].map(|()| self.expression(depth - 1))
    }

    /// A function of safe arithmetic that is not too large.
    fn safe(&mut self) -> Option<Safe> {
        let is_signed = self.rng().random_bool(0.7);
        let ty = self.one_of(if is_signed { &["int", "long"] } else { &["uint", "ulong"] });
        let safe = Safe { operation: self.rng().random_range(0..safe::COUNT), ty };
        let size = safe.size();
        if !self.spend(size.comp, size.rational) {
            return None;
        }
        self.writer.used.insert(safe);
        Some(safe)
    }
}

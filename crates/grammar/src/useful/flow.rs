//! What expressions read and write.

use super::{
    Home, Result, Useful, Useless, Value,
    text::{between, closes, hashed, is_word, natural, outside, split},
};

/// How often a variable may be changed in a row by what it was.
const STREAK: u8 = 3;
/// Largest number that an index may be: the smallest executions have so many work-items.
const ELEMENTS: u64 = 256;
/// How many statements in a row may write to one variable.
const ROW: u8 = 4;

/// Assignments.
const ASSIGNMENTS: [&str; 11] = ["=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="];
/// Operators between two numbers. An address is none.
const OF_NUMBERS: [&str; 16] =
    ["==", "!=", "<", ">", "<=", ">=", "&&", "||", "*", "/", "%", "&", "|", "^", "<<", ">>"];
/// Of these the result is known where both sides are the same.
const KNOWN_OF_EQUALS: [&str; 13] =
    ["==", "!=", "<", ">", "<=", ">=", "&&", "||", "-", "/", "%", "&", "|"];
/// Characters of a number; a `double` has 17 digits.
const MOST_DIGITS: usize = 24;

impl Useful {
    /// What an expression comes to; what it writes is written.
    pub(super) fn value(&mut self, lexemes: &[&str]) -> Result<Value> {
        let parts = split(lexemes, ",");
        if parts.len() > 1 {
            let mut whole = Value::default();
            for part in parts {
                whole = whole.with(self.value(part)?);
            }
            return Ok(whole);
        }
        let assignment = ASSIGNMENTS.iter().filter_map(|sign| outside(lexemes, sign)).min();
        if let Some(at) = assignment {
            return self.write(&lexemes[..at], lexemes[at], &lexemes[at + 1..]);
        }
        if let Some(question) = outside(lexemes, "?") {
            let condition = self.value(&lexemes[..question])?;
            if !condition.varies || condition.address {
                return Err(Useless::Constant);
            }
            let rest = &lexemes[question + 1..];
            let colon = colon(rest);
            let (middle, last) = (&rest[..colon], rest.get(colon + 1..).unwrap_or(&[]));
            if middle == last {
                return Err(Useless::Constant);
            }
            let chosen = self.value(middle)?.with(self.value(last)?);
            return Ok(Value { address: chosen.address, ..chosen.with(condition) });
        }
        self.operands(lexemes)
    }

    /// What the last of several expressions comes to, where the others have an effect.
    fn sequence(&mut self, lexemes: &[&str]) -> Result<Value> {
        let parts = split(lexemes, ",");
        let mut whole = Value::default();
        for (at, part) in parts.iter().enumerate() {
            let value = self.value(part)?;
            if at + 1 < parts.len() && !value.effect {
                return Err(Useless::NoEffect);
            }
            whole = whole.with(value);
        }
        Ok(whole)
    }

    /// Operands and the operators between them.
    fn operands(&mut self, lexemes: &[&str]) -> Result<Value> {
        let mut whole = Value::default();
        let mut signs = Vec::new();
        let (mut at, mut operand, mut follows, mut located) = (0, false, false, false);
        let mut cast = false;
        while at < lexemes.len() {
            let lexeme = lexemes[at];
            let found = match lexeme {
                "(" => {
                    let end = at + closes(&lexemes[at..]);
                    let inside = between(lexemes, at + 1, end);
                    at = end;
                    if inside.first().is_some_and(|first| self.is_type(first)) {
                        cast = true;
                        continue;
                    }
                    // Behind a cast they are the parts of a vector.
                    if cast { self.value(inside)? } else { self.sequence(inside)? }
                }
                "{" => {
                    let end = at + closes(&lexemes[at..]);
                    let inside = between(lexemes, at + 1, end);
                    at = end;
                    self.value(inside)?
                }
                "[" => {
                    let end = at + closes(&lexemes[at..]);
                    let index = self.value(between(lexemes, at + 1, end))?;
                    at = end;
                    // Of what an expression in parentheses came to.
                    whole = Value {
                        address: false,
                        data: whole.data || whole.address,
                        ..whole.with(Value { address: false, ..index })
                    };
                    continue;
                }
                "." | "->" => {
                    at += 2;
                    continue;
                }
                "sizeof" => {
                    at += 1;
                    at += if lexemes.get(at) == Some(&"(") { closes(&lexemes[at..]) } else { 1 };
                    Value::default()
                }
                "++" | "--" => {
                    let end = at + 1 + place(&lexemes[at + 1..]);
                    let written = self.write(&lexemes[at + 1..end], "+=", &[])?;
                    at = end;
                    written
                }
                word if is_word(word) && lexemes.get(at + 1) == Some(&"(") => {
                    let end = at + 1 + closes(&lexemes[at + 1..]);
                    let arguments = between(lexemes, at + 2, end);
                    at = end;
                    self.call(word, &split(arguments, ","))?
                }
                word if is_word(word) => {
                    let end = at + place(&lexemes[at..]);
                    let named = &lexemes[at..end];
                    at = end;
                    match lexemes.get(at) {
                        Some(&("++" | "--")) => {
                            at += 1;
                            self.write(named, "+=", &[])?
                        }
                        _ if located => {
                            self.touch(word);
                            Value { address: true, ..self.read_place(named)? }
                        }
                        _ => self.read_place(named)?,
                    }
                }
                sign if sign.starts_with(|first: char| {
                    first.is_ascii_punctuation() && first != '.' && first != '"' && first != '\''
                }) =>
                {
                    if operand {
                        signs.push(at);
                    } else {
                        follows |= sign == "*";
                        located = sign == "&";
                    }
                    at += 1;
                    operand = false;
                    continue;
                }
                word if word.len() > MOST_DIGITS
                    && word.starts_with(|one: char| one.is_ascii_digit()) =>
                {
                    return Err(Useless::Digits);
                }
                _ => {
                    at += 1;
                    Value::default()
                }
            };
            if follows && !found.address {
                return Err(Useless::Outside);
            }
            let found = match follows {
                true => Value {
                    address: false,
                    data: found.data || found.address,
                    varies: true,
                    ..found
                },
                false => found,
            };
            whole = whole.with(found);
            (operand, follows, located, cast) = (true, false, false, false);
        }
        if whole.address && signs.iter().any(|at| OF_NUMBERS.contains(&lexemes[*at])) {
            return Err(Useless::NoEffect);
        }
        if let [at] = signs[..]
            && KNOWN_OF_EQUALS.contains(&lexemes[at])
            && lexemes[..at] == lexemes[at + 1..]
        {
            return Err(Useless::Constant);
        }
        Ok(whole)
    }

    /// The value of a variable, with its indices and members.
    fn read_place(&mut self, named: &[&str]) -> Result<Value> {
        let index = self.indices(named)?;
        let part = named.len() > 1;
        self.places.retain(|(_, _, root)| **root != *named[0]);
        let Some(variable) = self.find(named[0]) else { return Ok(index) };
        (variable.unread, variable.streak) = (None, 0);
        let value = Value { varies: true, address: false, effect: false, ..variable.value };
        let cleared = variable.cleared;
        Ok(match variable.home {
            Home::Buffer { .. } | Home::Pointer if !variable.set => {
                return Err(Useless::Uninitialized);
            }
            Home::Buffer { .. } if part => {
                Value { data: !cleared || index.data, ..value.with(index) }
            }
            Home::Buffer { .. } => Value { address: true, ..value },
            Home::Pointer if !part => Value { address: true, ..value },
            Home::Pointer => value.with(index),
            _ if !variable.set => return Err(Useless::Uninitialized),
            Home::Shared if !part => Value { address: true, ..value },
            _ => Value { varies: variable.value.varies, ..value }.with(index),
        })
    }

    /// What the indices of a place depend on.
    fn indices(&mut self, named: &[&str]) -> Result<Value> {
        let mut index = Value::default();
        let guarded = self.blocks.len() > 1;
        let mut at = 0;
        while at < named.len() {
            if named[at] != "[" {
                at += 1;
                continue;
            }
            let end = at + closes(&named[at..]);
            let inside = between(named, at + 1, end);
            let one = self.value(inside)?;
            at = end;
            let of = self.find(named[0]).map(|of| (of.home, of.size));
            let most = of.and_then(|(_, size)| size).unwrap_or(ELEMENTS);
            let number = inside.iter().filter_map(|word| natural(word)).max().unwrap_or(0);
            let bounded =
                inside.iter().any(|word| matches!(*word, "%" | "&" | "min" | "clamp" | "?"));
            let private = matches!(of, Some((Home::Parts, _))) && (one.item || one.wide)
                || matches!(of, Some((Home::Shared, _))) && one.wide;
            let below = inside.contains(&"-") && !guarded;
            if number >= most || !bounded && (one.data || private || below) {
                return Err(Useless::Outside);
            }
            index = index.with(one);
        }
        if index.address { Err(Useless::NoEffect) } else { Ok(Value { effect: false, ..index }) }
    }

    /// An expression without casts and parentheses around it.
    fn bare<'a>(&self, mut lexemes: &'a [&'a str]) -> &'a [&'a str] {
        while lexemes.first() == Some(&"(") {
            let end = closes(lexemes);
            let cast = lexemes.get(1).is_some_and(|word| self.is_type(word));
            lexemes = match end == lexemes.len() {
                _ if cast => &lexemes[end..],
                true => lexemes.get(1..end - 1).unwrap_or(&[]),
                false => break,
            };
        }
        lexemes
    }

    /// Something may be written through the address of this.
    fn touch(&mut self, name: &str) {
        if let Some(variable) = self.find(name) {
            variable.set = true;
        }
    }

    /// The variable that a place or an address is of.
    pub(super) fn root<'a>(&self, lexemes: &[&'a str]) -> Option<&'a str> {
        let known = |name: &&&str| self.variables.iter().any(|one| *one.name == ***name);
        lexemes.iter().find(known).copied()
    }

    /// An assignment; an empty right side stands for one.
    fn write(&mut self, place: &[&str], sign: &str, given: &[&str]) -> Result<Value> {
        if self.bare(given) == place {
            return Err(Useless::NoEffect);
        }
        let Some(root) = self.root(place) else {
            return Ok(Value { effect: true, ..self.value(given)? });
        };
        let streak = self.find(root).map_or(0, |one| one.streak);
        let mut value = self.value(given)?;
        let plain = place.len() == 1;
        let updates = sign != "=";
        let index = self.indices(place)?;
        let block = self.block();
        let nested = self.blocks.len() > 1;
        for open in &mut self.blocks {
            open.changed |= open.watches.iter().any(|name| **name == *root);
        }
        let certain = self.blocks.iter().all(|open| open.certain);
        if plain && self.blocks.iter().any(|open| open.held.iter().any(|name| **name == *root)) {
            return Err(Useless::Endless);
        }
        let row =
            self.latest.take().filter(|(name, _)| **name == *root).map_or(1, |(_, row)| row + 1);
        if row > ROW {
            return Err(Useless::Repeated);
        }
        self.latest = Some((root.into(), row));
        if !plain {
            let hash = hashed(place);
            if !updates && self.places.iter().any(|(known, of, _)| (*known, *of) == (hash, block)) {
                return Err(Useless::Overwritten);
            }
            self.places.push((hash, block, root.into()));
        }
        let last = !self.variables.iter().any(|one| *one.name != *root && one.holds_data());
        let Some(variable) = self.find(root) else { return Ok(value) };
        variable.writes += 1;
        let home = variable.home;
        if !plain && matches!(home, Home::Buffer { .. } | Home::Pointer) && !variable.set {
            return Err(Useless::Uninitialized);
        }
        if plain {
            // A buffer's own address is lost with it.
            if matches!(home, Home::Buffer { .. }) && updates {
                return Err(Useless::Outside);
            }
            let pointer =
                matches!(variable.home, Home::Buffer { .. } | Home::Pointer | Home::Shared);
            if value.address != pointer && !(pointer && updates) {
                return Err(Useless::NoEffect);
            }
            if updates && !variable.set {
                return Err(Useless::Uninitialized);
            }
            if !updates && variable.unread == Some(block) {
                return Err(Useless::Overwritten);
            }
            let own = updates || given.contains(&root);
            variable.streak = if own { streak + 1 } else { 0 };
            if variable.streak > STREAK {
                return Err(Useless::Repeated);
            }
            if updates || nested {
                value = value.with(variable.value);
            }
            variable.value = Value { varies: true, address: false, effect: false, ..value };
            (variable.set, variable.unread) = (true, Some(block));
        } else {
            if value.address {
                return Err(Useless::NoEffect);
            }
            let own = variable.value;
            variable.set = true;
            match variable.home {
                // Work-items that all write one place leave what is left to chance.
                Home::Buffer { writable } => {
                    value.data |= updates && !variable.cleared;
                    let own = index.item || own.item;
                    if writable && certain && own && (value.data || !index.data) {
                        // Nothing would be left to compute with.
                        if last && !value.data {
                            return Err(Useless::Overwritten);
                        }
                        (variable.result, variable.cleared) = (value.data, !value.data);
                    }
                }
                _ => {
                    variable.value =
                        own.with(Value { varies: true, address: false, effect: false, ..value })
                }
            }
            self.dirty |= matches!(home, Home::Buffer { .. } | Home::Shared);
        }
        Ok(Value { effect: true, address: false, ..value })
    }

    /// Values are written through an address that a function is given.
    pub(super) fn written_through(&mut self, argument: &[&str], value: Value) {
        let Some(root) = self.root(argument) else { return };
        let certain = self.blocks.iter().all(|open| open.certain);
        self.dirty = true;
        let Some(variable) = self.find(root) else { return };
        variable.set = true;
        variable.writes += 1;
        (variable.unread, variable.streak) = (None, 0);
        match variable.home {
            Home::Buffer { writable } => variable.result |= writable && certain && value.data,
            _ => {
                variable.value =
                    variable.value.with(Value { address: false, effect: false, ..value })
            }
        }
    }
}

/// Lexemes of a place that the first of them names: indices and members behind it.
fn place(lexemes: &[&str]) -> usize {
    let mut at = match lexemes.first() {
        Some(&"(") => closes(lexemes),
        _ => 1,
    };
    loop {
        match lexemes.get(at) {
            Some(&"[") => at += closes(&lexemes[at..]),
            Some(&("." | "->")) => at += 2,
            _ => return at.min(lexemes.len()),
        }
    }
}

/// The colon of a question mark that came before.
fn colon(lexemes: &[&str]) -> usize {
    let (mut at, mut questions) = (0, 0);
    while at < lexemes.len() {
        match lexemes[at] {
            "?" => questions += 1,
            ":" if questions == 0 => return at,
            ":" => questions -= 1,
            "(" | "[" | "{" => at += closes(&lexemes[at..]).max(1) - 1,
            _ => {}
        }
        at += 1;
    }
    lexemes.len()
}

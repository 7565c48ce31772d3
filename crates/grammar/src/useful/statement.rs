//! Statements and declarations.

use super::{
    Block, Home, Kind, Result, UNREAD, Useful, Useless, Value, Variable,
    text::{
        between, closes, ends, hashed, in_parentheses, is_builtin_type, is_modest, is_word,
        natural, number, outside, split,
    },
};
use std::sync::Arc;

/// The latest statements that are not to be written again.
const REMEMBERED: usize = 6;
/// Variables that may wait for a first value.
const WAITING: usize = 6;
/// Most turns of a loop, where a number says them.
const TURNS: u64 = 4096;
/// Most turns of loops within loops.
const NESTED: u64 = 1 << 16;

/// A branch or loop that is about to begin, as [`Block`] has it.
struct Branch {
    kind: Kind,
    certain: bool,
    divergent: bool,
    returns: bool,
    held: Vec<Arc<str>>,
    turns: u64,
    watches: Vec<Arc<str>>,
}

impl Branch {
    fn of(kind: Kind) -> Branch {
        Branch {
            kind,
            certain: true,
            divergent: false,
            returns: false,
            held: Vec::new(),
            turns: 1,
            watches: Vec::new(),
        }
    }
}

/// What a condition says of work-items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// Those with work meet it: `i < n`.
    Within,
    /// Those without meet it: `i >= n`.
    Beyond,
    Unknown,
}

impl Useful {
    /// What a file declares: of functions alone something is asked.
    pub(super) fn of_file<'a>(&mut self, rest: &'a [&'a str]) -> Result<&'a [&'a str]> {
        let end = ends(rest);
        let (declared, after) = rest.split_at(end);
        if declared.first() == Some(&"typedef") {
            let name = declared.iter().rev().find(|word| is_word(word));
            self.types.extend(name.map(|name| Arc::from(*name)));
        }
        let Some(open) = declared
            .iter()
            .position(|lexeme| *lexeme == "(")
            .filter(|_| declared.last() == Some(&"{"))
        else {
            return Ok(after);
        };
        // Attributes come before the name.
        let mut open = open;
        while open > 0 && declared[open - 1] == "__attribute__" {
            let past = open + closes(&declared[open..]);
            match declared[past..].iter().position(|lexeme| *lexeme == "(") {
                Some(found) => open = past + found,
                None => return Ok(after),
            }
        }
        let kernel = declared[..open].iter().any(|word| matches!(*word, "kernel" | "__kernel"));
        // An inline kernel is none that a host can call.
        if kernel && declared[..open].contains(&"inline") || !is_modest(&declared[..open]) {
            return Err(Useless::Unsupported);
        }
        if let Some(name) = open.checked_sub(1).map(|at| declared[at]) {
            self.functions.push(name.into());
        }
        let past = open + closes(&declared[open..]);
        self.open(Kind::Function { kernel });
        self.recent.clear();
        for parameter in between(declared, open + 1, past).split(|lexeme| *lexeme == ",") {
            self.parameter(parameter, kernel);
        }
        if kernel {
            let writable = |one: &Variable| one.home == Home::Buffer { writable: true };
            if !self.variables.iter().any(writable) {
                return Err(Useless::NoBuffer);
            }
            (self.wanted, self.dirty) = (true, false);
        }
        Ok(after)
    }

    fn parameter(&mut self, parameter: &[&str], kernel: bool) {
        let Some(name) = parameter.iter().rev().find(|word| is_word(word)) else { return };
        let has = |word: &str| parameter.iter().any(|one| one.trim_start_matches('_') == word);
        let pointer = has("*") || has("[");
        let home = match () {
            () if pointer && (has("global") || has("constant")) => {
                let star = parameter.iter().position(|one| *one == "*").unwrap_or(0);
                let constant = parameter[..star].contains(&"const") || has("constant");
                // What points to a struct is not told from one that no program can fill.
                Home::Buffer { writable: !constant && kernel }
            }
            () if pointer && has("local") => Home::Shared,
            () if pointer => Home::Pointer,
            () if parameter.iter().any(|one| one.starts_with("image")) => {
                Home::Buffer { writable: false }
            }
            () => Home::One,
        };
        let data = !kernel || parameter.iter().any(|one| one.starts_with("image"));
        let value = Value { data, item: !kernel, varies: true, wide: kernel, ..Value::default() };
        self.declare(name, home, home != Home::Shared, value);
    }

    fn declare(&mut self, name: &str, home: Home, set: bool, value: Value) {
        self.variables.push(Variable {
            name: name.into(),
            home,
            set,
            value,
            unread: None,
            streak: 0,
            size: None,
            writes: 0,
            result: false,
            cleared: false,
        });
    }

    fn open(&mut self, kind: Kind) {
        self.numbered += 1;
        self.blocks.push(Block {
            kind,
            number: self.numbered,
            statements: 0,
            ended: false,
            outer: self.variables.len(),
            braced: true,
            held: Vec::new(),
            turns: 1,
            watches: Vec::new(),
            changed: false,
            certain: true,
            divergent: false,
            returns: false,
        });
    }

    /// Statements as they are.
    pub(super) fn skim(&mut self, lexemes: &[&str]) {
        let mut rest = lexemes;
        while !rest.is_empty() {
            if self.blocks.is_empty() {
                self.lost = true;
                return;
            }
            rest = self.skimmed(rest, &mut Vec::new());
        }
    }

    /// One statement as it is: where it is refused what it names counts as written, with something that is not known.
    pub(super) fn skimmed<'a>(
        &mut self,
        rest: &'a [&'a str],
        refused: &mut Vec<Useless>,
    ) -> &'a [&'a str] {
        let mut next = self.clone();
        match next.statement(rest) {
            Ok(after) => {
                *self = next;
                return after;
            }
            Err(why) => refused.push(why),
        }
        let first = rest[0];
        let (named, after) = match first {
            "}" => {
                self.shut();
                (&[][..], &rest[1..])
            }
            "if" | "switch" | "while" | "for" => in_parentheses(&rest[1..]),
            "else" | "do" => (&[][..], &rest[1..]),
            "{" => (&[][..], rest),
            _ => rest.split_at(ends(rest).max(1)),
        };
        self.take_named(named);
        match after.split_first() {
            Some((&"{", inside)) if first != "}" => {
                self.open(Kind::Other);
                inside
            }
            _ => after,
        }
    }

    /// Variables that are declared or named here hold something that is not known.
    fn take_named(&mut self, lexemes: &[&str]) {
        let unknown = Value { data: true, varies: true, ..Value::default() };
        let declares = lexemes.first().is_some_and(|first| self.is_type(first));
        for (at, word) in lexemes.iter().enumerate() {
            let behind = at.checked_sub(1).map(|before| lexemes[before]);
            let declared = declares
                && is_word(word)
                && !self.is_type(word)
                && behind.is_some_and(|before| matches!(before, "*" | ",") || self.is_type(before));
            match self.find(word) {
                _ if declared => {
                    let home = match lexemes.get(at + 1) {
                        Some(&"[") => Home::Parts,
                        _ if behind == Some("*") => Home::Pointer,
                        _ => Home::One,
                    };
                    self.declare(word, home, true, unknown);
                }
                Some(variable) => {
                    (variable.set, variable.unread, variable.cleared) = (true, None, false);
                    if !variable.tells_items() && !matches!(variable.home, Home::Buffer { .. }) {
                        variable.value = variable.value.with(unknown);
                    }
                }
                None => {}
            }
        }
    }

    /// One statement, or as much of it as there is.
    pub(super) fn statement<'a>(&mut self, lexemes: &'a [&'a str]) -> Result<&'a [&'a str]> {
        let (first, rest) = (lexemes[0], &lexemes[1..]);
        let done = std::mem::take(&mut self.done);
        if first == "}" {
            return self.closed(rest);
        }
        if first.starts_with('#') {
            return Ok(rest);
        }
        if let Some(block) = self.blocks.last_mut() {
            if block.ended && !matches!(first, "case" | "default") {
                return Err(Useless::Unreachable);
            }
            block.statements += 1;
        }
        match first {
            ";" => Err(Useless::NoEffect),
            // Braces of their own hold what the statements before them do not need.
            "{" => Err(Useless::NoEffect),
            "if" | "switch" => {
                let (condition, after) = in_parentheses(rest);
                let divergent = self.condition(condition)?;
                let way = self.way(condition);
                let returns = after.iter().take(2).any(|word| *word == "return");
                if returns && way != Way::Beyond {
                    return Err(Useless::Unreachable);
                }
                self.branch(
                    Branch {
                        certain: first == "if" && way == Way::Within,
                        divergent,
                        returns: way == Way::Beyond,
                        ..Branch::of(Kind::Other)
                    },
                    after,
                )
            }
            // The condition that came before it is gone: it is taken for one that tells work-items apart.
            "else" => self.branch(
                Branch { certain: false, divergent: true, ..Branch::of(Kind::Other) },
                rest,
            ),
            "while" => {
                let (condition, after) = in_parentheses(rest);
                let divergent = self.condition(condition)?;
                if after.first() == Some(&";") {
                    return if done { Ok(&after[1..]) } else { Err(Useless::Endless) };
                }
                let read = condition
                    .iter()
                    .filter(|word| self.variables.iter().any(|one| *one.name == ***word));
                let watches = read.map(|word| Arc::from(*word)).collect();
                self.branch(
                    Branch { certain: false, divergent, watches, ..Branch::of(Kind::Loop) },
                    after,
                )
            }
            "do" => self.branch(Branch::of(Kind::Do), rest),
            "for" => self.counted(rest),
            "case" | "default" => {
                let colon =
                    rest.iter().position(|lexeme| *lexeme == ":").map_or(rest.len(), |at| at + 1);
                self.numbered += 1;
                if let Some(block) = self.blocks.last_mut() {
                    (block.ended, block.number) = (false, self.numbered);
                }
                Ok(&rest[colon..])
            }
            "break" | "continue" | "goto" | "return" => {
                if self.blocks.len() <= self.kept {
                    return Err(Useless::Unreachable);
                }
                let end = ends(rest);
                let value = between(rest, 0, end);
                if first == "return" && !value.is_empty() {
                    self.value(value)?;
                }
                if first == "return" && self.refuses_end() {
                    return Err(Useless::NoOutput);
                }
                // Who returns early writes nothing, and misses a barrier.
                let early = (self.wanted || self.kept > 0) && self.blocks.len() > 1;
                if first == "return"
                    && early
                    && !self.blocks.last().is_some_and(|block| block.returns)
                {
                    return Err(Useless::Unreachable);
                }
                if let Some(block) = self.blocks.last_mut() {
                    block.ended = true;
                }
                Ok(&rest[end..])
            }
            _ if self.is_type(first) => {
                let end = ends(lexemes);
                self.declaration(&lexemes[..end])?;
                if self.waits() { Err(Useless::Uninitialized) } else { Ok(&lexemes[end..]) }
            }
            _ => {
                let end = ends(lexemes);
                self.effective(between(lexemes, 0, end))?;
                Ok(&lexemes[end..])
            }
        }
    }

    fn closed<'a>(&mut self, rest: &'a [&'a str]) -> Result<&'a [&'a str]> {
        self.close()?;
        // With it ends what it is the one statement of.
        while self.blocks.last().is_some_and(|block| !block.braced) {
            self.close()?;
        }
        Ok(rest)
    }

    fn close(&mut self) -> Result<()> {
        let Some(block) = self.blocks.pop() else { return Ok(()) };
        self.done = block.kind == Kind::Do;
        if block.statements == 0 {
            return Err(Useless::NoEffect);
        }
        if block.kind == (Kind::Function { kernel: true }) {
            if self.wanted && !self.lost && !self.variables.iter().any(|one| one.result) {
                return Err(Useless::NoOutput);
            }
            self.wanted = false;
        }
        if !block.watches.is_empty() && !block.changed {
            return Err(Useless::Endless);
        }
        if self.unread_behind(block.outer).count() > UNREAD {
            return Err(Useless::Unread);
        }
        self.variables.truncate(block.outer);
        Ok(())
    }

    /// What a branch or a loop does: a brace, or one statement.
    fn branch<'a>(&mut self, branch: Branch, rest: &'a [&'a str]) -> Result<&'a [&'a str]> {
        if rest.is_empty() {
            return Ok(rest);
        }
        self.open(branch.kind);
        let (braced, number) = (rest[0] == "{", self.block());
        if let Some(block) = self.blocks.last_mut() {
            (block.braced, block.watches, block.returns) = (braced, branch.watches, branch.returns);
            (block.certain, block.divergent) = (branch.certain, branch.divergent);
            (block.held, block.turns) = (branch.held, branch.turns);
        }
        if braced {
            return Ok(&rest[1..]);
        }
        let after = self.statement(rest)?;
        // A brace within it ends it later.
        if self.block() == number {
            self.close()?;
        }
        Ok(after)
    }

    /// Where a condition sends those work-items that have work.
    fn way(&self, condition: &[&str]) -> Way {
        let item = |word: &str| {
            word.starts_with("get_")
                || self
                    .variables
                    .iter()
                    .rev()
                    .find(|one| *one.name == *word)
                    .is_some_and(|one| one.value.item && !one.value.data)
        };
        let parts = [split(condition, "&&"), split(condition, "||")];
        let compares = |part: &&[&str], signs: [&str; 2]| {
            let at = signs.iter().filter_map(|sign| outside(part, sign)).min();
            at.is_some_and(|at| {
                part[..at].iter().any(|word| item(word))
                    && !part[at..]
                        .iter()
                        .any(|word| *word == "0" || item(word) && !word.ends_with("_size"))
            })
        };
        match () {
            () if parts[0].iter().all(|part| compares(part, ["<", "<="])) => Way::Within,
            () if parts[1].iter().all(|part| compares(part, [">", ">="])) => Way::Beyond,
            () => Way::Unknown,
        }
    }

    /// Whether a condition may be another for another work-item.
    fn condition(&mut self, condition: &[&str]) -> Result<bool> {
        let value = self.value(condition)?;
        if value.varies && !value.address {
            Ok(value.item || value.data)
        } else {
            Err(Useless::Constant)
        }
    }

    /// A `for`: its counter is written before, compared, and brought nearer to the end.
    fn counted<'a>(&mut self, rest: &'a [&'a str]) -> Result<&'a [&'a str]> {
        let (inside, after) = in_parentheses(rest);
        let mut parts = inside.splitn(3, |lexeme| *lexeme == ";");
        let (first, condition, third) =
            (parts.next().unwrap_or(&[]), parts.next().unwrap_or(&[]), parts.next().unwrap_or(&[]));
        let outer = self.variables.len();
        match first.first() {
            Some(word) if self.is_type(word) => self.declaration(&[first, &[";"]].concat())?,
            Some(_) => self.effective(first)?,
            None => {}
        }
        let divergent = self.condition(condition)?;
        let wide = self.value(condition)?.wide;
        let counter = third.iter().find(|word| is_word(word)).ok_or(Useless::Endless)?;
        let at = condition.iter().position(|word| word == counter).ok_or(Useless::Endless)?;
        // What is compared with it moves with it.
        if condition[at + 1..].contains(counter) {
            return Err(Useless::Endless);
        }
        let steps = third.iter().position(|sign| {
            matches!(*sign, "++" | "--" | "+=" | "-=" | "<<=" | ">>=" | "*=" | "/=")
        });
        let grows = steps.is_some_and(|at| matches!(third[at], "++" | "+=" | "<<=" | "*="));
        let compares = ["<", "<=", ">", ">="].iter().filter_map(|sign| outside(condition, sign));
        let nearer = compares.min().is_none_or(|sign| {
            let is_below = condition[sign].starts_with('<') == (at < sign);
            is_below == grows
        });
        // Zero stays zero.
        let multiplies = steps.is_some_and(|at| matches!(third[at], "<<=" | "*="));
        if multiplies && first.last().and_then(|last| natural(last)) == Some(0) {
            return Err(Useless::Endless);
        }
        let still = steps.is_none_or(|at| match third[at] {
            "++" | "--" => false,
            "*=" | "/=" => third.get(at + 1).is_none_or(|by| natural(by).is_none_or(|by| by < 2)),
            _ => third.get(at + 1) == Some(&"0"),
        });
        let bounds = || condition.iter().filter_map(|bound| number(bound));
        // Nobody counts to a part of one.
        if bounds().any(|one| one.is_finite() && one.fract() != 0.0) {
            return Err(Useless::Constant);
        }
        let long = bounds().any(|one| one > TURNS as f64);
        if !nearer || still || long {
            return Err(Useless::Endless);
        }
        self.effective(third)?;
        let Some(counter) = self.find(counter) else { return Err(Useless::Endless) };
        (counter.unread, counter.streak, counter.value.wide) = (None, 0, wide);
        let named = condition.iter().filter(|word| {
            self.variables.iter().any(|one| *one.name == ***word && one.home == Home::One)
        });
        let held = named.map(|word| Arc::from(*word)).collect();
        let said = condition.iter().filter_map(|bound| natural(bound)).max();
        let turns = said.unwrap_or(if condition.iter().any(|word| word.starts_with("get_")) {
            1024
        } else {
            16
        });
        let all = self.blocks.iter().map(|open| open.turns).fold(turns, u64::saturating_mul);
        if all > NESTED {
            return Err(Useless::Endless);
        }
        let before = self.blocks.len();
        let after =
            self.branch(Branch { divergent, held, turns, ..Branch::of(Kind::Loop) }, after)?;
        // A counter that the `for` declares is the loop's own.
        match self.blocks.get_mut(before) {
            Some(block) => block.outer = outer,
            None => self.variables.truncate(outer),
        }
        Ok(after)
    }

    /// A declaration, with its semicolon.
    fn declaration(&mut self, lexemes: &[&str]) -> Result<()> {
        let lexemes = between(lexemes, 0, lexemes.len());
        if lexemes.first() == Some(&"typedef") || lexemes.contains(&"{") && !lexemes.contains(&"=")
        {
            let name = lexemes.iter().rev().find(|word| is_word(word));
            self.types
                .extend(name.filter(|_| lexemes[0] == "typedef").map(|name| Arc::from(*name)));
            return Ok(());
        }
        // Up to the first name that is none of a type.
        let mut begins = 0;
        while let Some(word) = lexemes.get(begins) {
            let tagged = begins > 0 && matches!(lexemes[begins - 1], "struct" | "union" | "enum");
            if !self.is_type(word) && !tagged {
                break;
            }
            begins += 1;
        }
        let (specifiers, declarators) = lexemes.split_at(begins);
        let has = |word: &str| specifiers.iter().any(|one| one.trim_start_matches('_') == word);
        let vector = specifiers
            .iter()
            .any(|one| is_builtin_type(one) && one.ends_with(|end: char| end.is_ascii_digit()));
        // What is written to it counts as an effect, though nobody sees it.
        if has("volatile") && !declarators.contains(&"*") {
            return Err(Useless::Unsupported);
        }
        for declarator in split(declarators, ",") {
            let equals = outside(declarator, "=");
            let (names, given) = declarator.split_at(equals.unwrap_or(declarator.len()));
            let Some(name) = names.iter().find(|word| is_word(word) && !self.is_type(word)) else {
                continue;
            };
            if self.variables.iter().any(|one| *one.name == **name) || crate::is_builtin(name) {
                return Err(Useless::Shadowed);
            }
            let (star, array) = (names.contains(&"*"), names.contains(&"["));
            let mut value = Value::default();
            for index in given.get(1..).into_iter() {
                value = self.value(index)?;
            }
            let home = match () {
                () if star && has("global") => Home::Buffer { writable: !has("const") },
                () if has("local") => Home::Shared,
                () if star && has("constant") => Home::Buffer { writable: false },
                () if star && value.address => Home::Pointer,
                () if array
                    || has("struct")
                    || has("union")
                    || vector && given.is_empty()
                    || self.types.iter().any(|known| specifiers.contains(&&**known)) =>
                {
                    Home::Parts
                }
                () if star => Home::Pointer,
                () => Home::One,
            };
            if value.address && !star {
                return Err(Useless::NoEffect);
            }
            let set = !given.is_empty() || home == Home::Parts && !array && !vector;
            // In its own value it has none yet.
            if given.contains(name) {
                return Err(Useless::Uninitialized);
            }
            let constant = has("const") || has("constant");
            self.declare(
                name,
                home,
                set,
                Value { varies: value.varies || !constant, address: false, effect: false, ..value },
            );
            if set && home == Home::One {
                let block = self.block();
                if let Some(variable) = self.variables.last_mut() {
                    variable.unread = Some(block);
                }
            }
            let size = names
                .iter()
                .position(|sign| *sign == "[")
                .and_then(|at| natural(names.get(at + 1)?));
            if let Some(variable) = self.variables.last_mut() {
                variable.size = size;
            }
        }
        Ok(())
    }

    /// Whether too many variables wait for a first value.
    fn waits(&self) -> bool {
        let waits = |one: &&Variable| matches!(one.home, Home::One | Home::Parts) && !one.set;
        self.variables.iter().filter(waits).count() > WAITING
    }

    /// A statement that is an expression.
    fn effective(&mut self, lexemes: &[&str]) -> Result<()> {
        let hash = hashed(lexemes);
        if self.recent.contains(&hash) && lexemes.iter().all(|one| !one.contains("barrier")) {
            return Err(Useless::Repeated);
        }
        for part in split(lexemes, ",") {
            if !self.value(part)?.effect {
                return Err(Useless::NoEffect);
            }
        }
        self.recent.push(hash);
        if self.recent.len() > REMEMBERED {
            self.recent.remove(0);
        }
        Ok(())
    }
}

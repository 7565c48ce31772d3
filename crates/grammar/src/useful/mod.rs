//! Whether a program does something: each statement has an effect, what is read was written, and the kernel writes to a buffer
//! what depends on one.
//!
//! A [`Useful`] follows a program statement by statement, behind a [`Constraint`](crate::Constraint) that has said that it may
//! compile. What it refuses is not an error of the program: people write it rarely, and a model that is led to write it writes on in
//! the same way. It goes by names and signs alone and knows few types.
//!
//! ```
//! use stampmill_grammar::{Useful, Useless};
//!
//! let mut useful = Useful::new();
//! let mut read = |text: &str| {
//!     let lexemes: Vec<&str> = text.split_whitespace().collect();
//!     useful.read(&lexemes)
//! };
//! read("kernel void A ( global float * a , const int b ) {").expect("it has a buffer to write to");
//! assert_eq!(read("int c = get_global_id ( 0 ) ; c == c ;"), Err(Useless::NoEffect));
//! ```

mod effects;
mod flow;

use crate::words;
use std::sync::Arc;

/// Why something does nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Useless {
    /// A statement or block without effect.
    NoEffect,
    /// A value is overwritten before anything reads it.
    Overwritten,
    /// The same statement as a moment ago.
    Repeated,
    /// Something is read that nothing has written.
    Uninitialized,
    /// A condition, or a comparison of something with itself, that is always the same.
    Constant,
    /// A loop that does not come to its end, or whose counter is written within it.
    Endless,
    /// Statements behind a `return`, `break` or `continue`.
    Unreachable,
    /// A kernel without a buffer that it may write to.
    NoBuffer,
    /// The kernel ends and has written nothing to a buffer that depends on one.
    NoOutput,
    /// A function that few devices have, that prints, or that calls itself.
    Unsupported,
    /// A barrier that not all work-items reach, or that nothing was written before.
    Barrier,
    /// An index that may lie outside.
    Outside,
    /// Values that nothing reads.
    Unread,
}

impl std::fmt::Display for Useless {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(match self {
            Useless::NoEffect => "it has no effect",
            Useless::Overwritten => "a value is overwritten before it is read",
            Useless::Repeated => "the same statement again",
            Useless::Uninitialized => "a variable is read before it is written",
            Useless::Constant => "a condition is always the same",
            Useless::Endless => "a loop does not end",
            Useless::Unreachable => "nothing reaches this statement",
            Useless::NoBuffer => "the kernel has no buffer to write to",
            Useless::NoOutput => "the kernel writes no result",
            Useless::Unsupported => "few devices can do this",
            Useless::Barrier => "a barrier without need, or that not all work-items reach",
            Useless::Outside => "an index may lie outside of its buffer",
            Useless::Unread => "nothing reads what was written",
        })
    }
}

type Result<T> = std::result::Result<T, Useless>;

/// Where a variable's values are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Home {
    /// A buffer of the program's caller, or a pointer into one.
    Buffer { writable: bool },
    /// Memory of a work-group.
    Shared,
    /// An array, struct or vector of a work-item, written part by part.
    Parts,
    /// A variable or parameter of a work-item.
    One,
    /// A pointer whose place is not known.
    Pointer,
}

/// What is known of a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Value {
    /// It depends on what a buffer held.
    data: bool,
    /// It depends on the work-item.
    item: bool,
    /// A variable or a function of the work-item was read.
    varies: bool,
    /// It may be as large as the whole execution.
    wide: bool,
    /// It is an address, not a number.
    address: bool,
    /// A place was written, or a barrier met.
    effect: bool,
}

impl Value {
    /// Of both together.
    fn with(self, other: Value) -> Value {
        Value {
            data: self.data || other.data,
            item: self.item || other.item,
            varies: self.varies || other.varies,
            wide: self.wide || other.wide,
            address: self.address || other.address,
            effect: self.effect || other.effect,
        }
    }
}

#[derive(Clone, Debug)]
struct Variable {
    name: Arc<str>,
    home: Home,
    /// Something was written to it.
    set: bool,
    value: Value,
    /// The block in which it was last written, and nothing has read it since.
    unread: Option<u32>,
    /// Times that it was changed in a row by what it was.
    streak: u8,
    /// Elements of an array, where a number says them.
    size: Option<u64>,
    /// Of a buffer: what it holds in the end depends on what a buffer held.
    result: bool,
    /// Of a buffer: all of it was overwritten with what depends on no buffer.
    cleared: bool,
}

impl Variable {
    /// Whether something that depends on what a buffer held can be had from it.
    fn holds_data(&self) -> bool {
        match self.home {
            Home::Buffer { .. } => !self.cleared,
            _ => self.set && self.value.data,
        }
    }
}

/// What a brace was opened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Function { kernel: bool },
    Loop,
    Other,
}

#[derive(Clone, Debug)]
struct Block {
    kind: Kind,
    number: u32,
    /// Statements so far.
    statements: u32,
    /// Nothing reaches what follows.
    ended: bool,
    /// Of all variables those that were there before.
    outer: usize,
    /// Whether a brace closes it; else it is one statement.
    braced: bool,
    /// What must not be written within: a loop's counter and its bound.
    held: Vec<Arc<str>>,
    /// About how often it runs.
    turns: u64,
    /// Of a loop: what its condition reads, and whether any of it was written.
    watches: Vec<Arc<str>>,
    changed: bool,
    /// Whether a kernel comes here with some work-item, as far as can be told.
    certain: bool,
    /// Whether some work-items may come here and others not.
    divergent: bool,
    /// Whether only work-items without work come here.
    returns: bool,
}

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

/// The latest statements that are not to be written again.
const REMEMBERED: usize = 6;
/// How often a variable may be changed in a row by what it was.
const STREAK: u8 = 3;
/// Variables of a block whose last values nothing reads.
const UNREAD: usize = 1;
/// Variables that may wait for a first value.
const WAITING: usize = 6;
/// Most turns of a loop, where a number says them.
const TURNS: u64 = 4096;
/// Most turns of loops within loops.
const NESTED: u64 = 1 << 16;
/// Largest number that an index may be: the smallest executions have so many work-items.
const ELEMENTS: u64 = 256;
/// Most work-items of a work-group that a kernel may ask for: all devices have so many.
const GROUP: u64 = 256;

/// A program so far.
#[derive(Clone, Debug, Default)]
pub struct Useful {
    variables: Vec<Variable>,
    blocks: Vec<Block>,
    /// Functions and types of the program.
    functions: Vec<Arc<str>>,
    types: Vec<Arc<str>>,
    recent: Vec<u64>,
    /// What the latest statements wrote to, and how many in a row.
    latest: Option<(Arc<str>, u8)>,
    /// Places that were written as a whole and not read since, with their block and variable.
    places: Vec<(u64, u32, Arc<str>)>,
    /// Numbers of blocks so far.
    numbered: u32,
    /// Whether the kernel that is open must write, and has written, a result.
    wanted: bool,
    /// Whether memory that others see was written since the last barrier.
    dirty: bool,
    /// Somebody else's part of the program was not understood.
    lost: bool,
}

impl Useful {
    /// Before the first lexeme.
    #[must_use]
    pub fn new() -> Useful {
        Useful::default()
    }

    /// Go on with lexemes up to where a statement may begin.
    ///
    /// # Errors
    /// Why they do nothing; the state is as before.
    pub fn read(&mut self, lexemes: &[&str]) -> std::result::Result<(), Useless> {
        if self.lost {
            return Ok(());
        }
        let mut next = self.clone();
        next.all(lexemes)?;
        *self = next;
        Ok(())
    }

    /// Take lexemes of somebody else as they are. Where they do nothing nothing is asked of what follows either.
    pub fn accept(&mut self, lexemes: &[&str]) {
        let mut next = self.clone();
        next.lost |= next.all(lexemes).is_err();
        *self = next;
    }

    /// Ask no result of the kernel that is open: somebody else ends it.
    pub fn ask_no_result(&mut self) {
        self.wanted = false;
    }

    /// A buffer that a kernel has to write a result to before its last brace, which comes next; `None` where it has, or needs
    /// not. The one of `choice` where there are several.
    #[must_use]
    pub fn owed(&self, choice: usize) -> Option<&str> {
        let open = [Kind::Function { kernel: true }];
        self.owes(choice).filter(|_| self.blocks.iter().map(|block| block.kind).eq(open))
    }

    /// The same wherever in the kernel.
    #[must_use]
    pub fn owes(&self, choice: usize) -> Option<&str> {
        if !self.wanted || self.lost || self.variables.iter().any(|one| one.result) {
            return None;
        }
        let buffers: Vec<&str> = self.buffers().collect();
        buffers.get(choice.checked_rem(buffers.len())?).copied()
    }

    /// Buffers that a kernel may write to.
    #[must_use]
    pub fn writable(&self) -> Vec<&str> {
        self.buffers().collect()
    }

    fn buffers(&self) -> impl Iterator<Item = &str> {
        let writable = |one: &&Variable| one.home == Home::Buffer { writable: true };
        self.variables.iter().filter(writable).map(|one| &*one.name)
    }

    /// What tells work-items apart: variables that depend on which it is, and a call.
    #[must_use]
    pub fn items(&self) -> Vec<Vec<&str>> {
        let tells =
            |one: &&Variable| one.home == Home::One && one.set && one.value.item && !one.value.data;
        let named = self.variables.iter().filter(tells).take(2).map(|one| vec![&*one.name]);
        named.chain([vec!["get_global_id", "(", "0", ")"]]).collect()
    }

    /// Buffers that still hold what their owner put there.
    #[must_use]
    pub fn readable(&self) -> Vec<&str> {
        let holds = |one: &&Variable| matches!(one.home, Home::Buffer { .. }) && !one.cleared;
        self.variables.iter().filter(holds).map(|one| &*one.name).collect()
    }

    /// Variables of the innermost block of a kernel whose values nothing has read, where there are so many that its brace is
    /// refused.
    #[must_use]
    pub fn unread(&self) -> Vec<&str> {
        let Some(block) = self.blocks.last().filter(|_| self.wanted && !self.lost) else {
            return Vec::new();
        };
        let unread: Vec<&str> = self.unread_behind(block.outer).map(|one| &*one.name).collect();
        if unread.len() > UNREAD { unread } else { Vec::new() }
    }

    fn unread_behind(&self, outer: usize) -> impl Iterator<Item = &Variable> {
        let unread = |one: &&Variable| one.home == Home::One && one.unread.is_some();
        self.variables[outer.min(self.variables.len())..].iter().filter(unread)
    }

    /// Close a brace, whatever it holds.
    pub fn shut(&mut self) {
        while let Some(block) = self.blocks.pop() {
            self.variables.truncate(block.outer);
            if block.braced {
                return;
            }
        }
    }

    /// How many braces are open.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.blocks.len()
    }

    /// Whether the brace that ends a kernel would come before its result.
    #[must_use]
    pub fn refuses_end(&self) -> bool {
        self.owed(0).is_some()
    }

    fn find(&mut self, name: &str) -> Option<&mut Variable> {
        self.variables.iter_mut().rev().find(|one| *one.name == *name)
    }

    fn block(&self) -> u32 {
        self.blocks.last().map_or(0, |block| block.number)
    }

    /// Whether a lexeme begins a type.
    fn is_type(&self, lexeme: &str) -> bool {
        matches!(
            lexeme,
            "struct"
                | "union"
                | "enum"
                | "unsigned"
                | "signed"
                | "const"
                | "volatile"
                | "__global"
                | "global"
                | "__local"
                | "local"
                | "__constant"
                | "constant"
                | "__private"
                | "private"
                | "typedef"
                | "static"
                | "inline"
                | "kernel"
                | "__kernel"
        ) || is_builtin_type(lexeme)
            || self.types.iter().any(|known| **known == *lexeme)
    }

    fn all(&mut self, lexemes: &[&str]) -> Result<()> {
        let mut rest = lexemes;
        while !rest.is_empty() {
            rest = match self.blocks.is_empty() {
                true => self.of_file(rest)?,
                false => self.statement(rest)?,
            };
        }
        Ok(())
    }

    /// What a file declares: of functions alone something is asked.
    fn of_file<'a>(&mut self, rest: &'a [&'a str]) -> Result<&'a [&'a str]> {
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
        if !is_modest(&declared[..open]) {
            return Err(Useless::Unsupported);
        }
        let kernel = declared[..open].iter().any(|word| matches!(*word, "kernel" | "__kernel"));
        if let Some(name) = open.checked_sub(1).map(|at| declared[at]) {
            self.functions.push(name.into());
        }
        let past = open + closes(&declared[open..]);
        self.open(Kind::Function { kernel });
        self.recent.clear();
        for parameter in declared[open + 1..past - 1].split(|lexeme| *lexeme == ",") {
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

    /// One statement, or as much of it as there is.
    fn statement<'a>(&mut self, lexemes: &'a [&'a str]) -> Result<&'a [&'a str]> {
        let (first, rest) = (lexemes[0], &lexemes[1..]);
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
                    // Of a `do`.
                    return Ok(&after[1..]);
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
            "do" => self.branch(Branch::of(Kind::Loop), rest),
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
                let end = ends(rest);
                let value = &rest[..end - 1];
                if first == "return" && !value.is_empty() {
                    self.value(value)?;
                }
                if first == "return" && self.refuses_end() {
                    return Err(Useless::NoOutput);
                }
                // Who returns early writes nothing, and misses a barrier.
                let early = self.wanted && self.blocks.len() > 1;
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
                self.effective(&lexemes[..end - 1])?;
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
        let grows = third.iter().any(|sign| matches!(*sign, "++" | "+=" | "<<=" | "*="));
        let nearer = match condition.get(at + 1) {
            Some(&("<" | "<=")) => grows,
            Some(&(">" | ">=")) => !grows,
            _ => true,
        };
        let steps = third.iter().position(|sign| {
            matches!(*sign, "++" | "--" | "+=" | "-=" | "<<=" | ">>=" | "*=" | "/=")
        });
        let still = steps.is_none_or(|at| match third[at] {
            "++" | "--" => false,
            "*=" | "/=" => third.get(at + 1).is_none_or(|by| natural(by).is_none_or(|by| by < 2)),
            _ => third.get(at + 1) == Some(&"0"),
        });
        let long = condition.iter().filter_map(|bound| natural(bound)).any(|bound| bound > TURNS);
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
        let lexemes = &lexemes[..lexemes.len() - 1];
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
        for declarator in split(declarators, ",") {
            let equals = outside(declarator, "=");
            let (names, given) = declarator.split_at(equals.unwrap_or(declarator.len()));
            let Some(name) = names.iter().find(|word| is_word(word) && !self.is_type(word)) else {
                continue;
            };
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

fn hashed(lexemes: &[&str]) -> u64 {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let mut hasher = DefaultHasher::new();
    lexemes.hash(&mut hasher);
    hasher.finish()
}

fn is_builtin_type(lexeme: &str) -> bool {
    lexeme == "void"
        || words::TYPES
            .binary_search(&lexeme.trim_end_matches(|end: char| end.is_ascii_digit()))
            .is_ok()
        || words::TYPES.binary_search(&lexeme).is_ok()
}

/// Whether it is a name or a keyword.
fn is_word(lexeme: &str) -> bool {
    lexeme.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
}

/// Lexemes up to the end of a parenthesis that the first of them opens.
fn closes(lexemes: &[&str]) -> usize {
    let mut depth = 0_i32;
    for (at, lexeme) in lexemes.iter().enumerate() {
        match *lexeme {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at + 1;
        }
    }
    lexemes.len()
}

/// What stands in the parentheses that come first, and what comes after them.
fn in_parentheses<'a>(lexemes: &'a [&'a str]) -> (&'a [&'a str], &'a [&'a str]) {
    let end = closes(lexemes);
    (lexemes.get(1..end.saturating_sub(1)).unwrap_or(&[]), &lexemes[end..])
}

/// Lexemes up to a semicolon outside of parentheses, or to a function's brace.
fn ends(lexemes: &[&str]) -> usize {
    let mut at = 0;
    while at < lexemes.len() {
        match lexemes[at] {
            ";" => return at + 1,
            "{" if at > 0 && lexemes[at - 1] == ")" => return at + 1,
            "(" | "[" | "{" => at += closes(&lexemes[at..]),
            _ => at += 1,
        }
    }
    lexemes.len()
}

/// The place of the first of a sign outside of parentheses.
fn outside(lexemes: &[&str], sign: &str) -> Option<usize> {
    let mut at = 0;
    while at < lexemes.len() {
        match lexemes[at] {
            found if found == sign => return Some(at),
            "(" | "[" | "{" => at += closes(&lexemes[at..]),
            _ => at += 1,
        }
    }
    None
}

/// The parts between a sign outside of parentheses.
fn split<'a>(mut lexemes: &'a [&'a str], sign: &str) -> Vec<&'a [&'a str]> {
    let mut parts = Vec::new();
    while let Some(at) = outside(lexemes, sign) {
        parts.push(&lexemes[..at]);
        lexemes = &lexemes[at + 1..];
    }
    if !lexemes.is_empty() {
        parts.push(lexemes);
    }
    parts
}

/// The number that a lexeme is.
fn natural(lexeme: &str) -> Option<u64> {
    lexeme.trim_end_matches(['u', 'U', 'l', 'L']).parse().ok()
}

/// Whether the attributes of a kernel ask for what devices have.
fn is_modest(head: &[&str]) -> bool {
    let sizes = head.iter().position(|word| *word == "reqd_work_group_size");
    let within = sizes.is_none_or(|at| {
        let numbers =
            head[at..].iter().take_while(|word| **word != ")").filter_map(|word| natural(word));
        (1..=GROUP).contains(&numbers.fold(1, u64::saturating_mul))
    });
    within && !head.iter().any(|word| word.contains("sub_group"))
}

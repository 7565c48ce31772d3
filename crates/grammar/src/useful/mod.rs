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
//! assert_eq!(read("int c = get_global_id ( 0 ) ; c + 1 ;"), Err(Useless::NoEffect));
//! ```

mod effects;
mod flow;
mod statement;
mod text;

use std::sync::Arc;
pub use text::is_builtin_type;

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
    /// A number of more digits than any type holds.
    Digits,
    /// A name that is declared within its own scope, or that OpenCL gives a function.
    Shadowed,
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
            Useless::Shadowed => "a name is declared again",
            Useless::Digits => "a number has more digits than any type holds",
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
    /// How often it was written.
    writes: u32,
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

    /// Whether it says which work-item this is.
    fn tells_items(&self) -> bool {
        self.home == Home::One && self.set && self.value.item && !self.value.data
    }
}

/// What a brace was opened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Function {
        kernel: bool,
    },
    Loop,
    /// A `do`, behind which a `while` stands alone.
    Do,
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

/// Variables of a block whose last values nothing reads.
const UNREAD: usize = 1;

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
    /// A `do` has just ended.
    done: bool,
    /// Blocks that somebody else goes on in.
    kept: usize,
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

    /// Take lexemes of somebody else as they are. Of statements that do nothing it is known what they name; where it is not even
    /// known that, nothing is asked of what follows.
    pub fn accept(&mut self, lexemes: &[&str]) {
        let mut next = self.clone();
        if next.all(lexemes).is_err() {
            next = self.clone();
            next.skim(lexemes);
        }
        *self = next;
    }

    /// Why statements of a whole program would be refused, all that are.
    #[must_use]
    pub fn refused(mut self, lexemes: &[&str]) -> Vec<Useless> {
        let (mut refused, mut rest) = (Vec::new(), lexemes);
        while !rest.is_empty() && !self.lost {
            let mut next = self.clone();
            rest = match self.blocks.is_empty() {
                true => match next.of_file(rest) {
                    Ok(after) => {
                        self = next;
                        after
                    }
                    Err(why) => {
                        refused.push(why);
                        break;
                    }
                },
                false => self.skimmed(rest, &mut refused),
            };
        }
        refused
    }

    /// Ask no result of the kernel that is open: somebody else ends it.
    pub fn ask_no_result(&mut self) {
        self.wanted = false;
    }

    /// Somebody else goes on in the block that is open: no statement may leave it.
    pub fn keep_open(&mut self) {
        self.kept = self.blocks.len();
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

    /// Variables of a work-item or a work-group that lexemes name and that hold something: those that do not tell work-items
    /// apart.
    #[must_use]
    pub fn named(&self, lexemes: &[&str]) -> Vec<&str> {
        let named = self.variables.iter().filter(|one| {
            matches!(one.home, Home::One | Home::Parts | Home::Shared)
                && one.set
                && !one.tells_items()
                && lexemes.contains(&&*one.name)
        });
        named.map(|one| &*one.name).collect()
    }

    /// Refuse writes to those variables of these lexemes that tell work-items apart: what stands behind makes indices of them.
    pub fn keep_items(&mut self, lexemes: &[&str]) {
        let named = self.variables.iter().filter(|one| lexemes.contains(&&*one.name));
        let items: Vec<Arc<str>> =
            named.filter(|one| one.tells_items()).map(|one| Arc::clone(&one.name)).collect();
        if let Some(block) = self.blocks.last_mut() {
            block.held.extend(items);
        }
    }

    /// Whether a variable has elements, which statements write one by one.
    #[must_use]
    pub fn has_elements(&self, name: &str) -> bool {
        let found = self.variables.iter().rev().find(|one| *one.name == *name);
        found.is_some_and(|one| one.home == Home::Shared || one.size.is_some())
    }

    /// How often any of these variables was written.
    #[must_use]
    pub fn writes(&self, names: &[Arc<str>]) -> u32 {
        let named = self.variables.iter().filter(|one| names.contains(&one.name));
        named.map(|one| one.writes).sum()
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
        let named = self
            .variables
            .iter()
            .filter(|one| one.tells_items())
            .take(2)
            .map(|one| vec![&*one.name]);
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
}

//! Samples that do something: what was drawn is followed statement by statement.

use crate::sample::Encoded;
use grammar::{Constraint, Grammar, KEYWORDS, Useful, Useless, is_builtin_type};
use std::sync::Arc;

/// Of a sample that is being drawn.
#[derive(Clone, Debug)]
pub(crate) struct Usefulness {
    grammar: Arc<Grammar>,
    useful: Useful,
    /// Tokens of the prompt that the statement which is being drawn begins with.
    begun: Vec<u16>,
    /// Tokens that come next whatever the model says, the next one last.
    forced: Vec<u16>,
    /// How often a result was asked for.
    asked: usize,
    /// What fills a hole has to do before it ends.
    duty: Duty,
    /// Whether it has not done so yet.
    owes: bool,
}

#[derive(Clone, Debug)]
enum Duty {
    Nothing,
    /// Write the result: what stands around the hole writes none.
    Result,
    /// Write one of the variables that what stands behind the hole reads.
    Change(Arc<Behind>),
}

/// What stands behind a hole.
#[derive(Debug)]
struct Behind {
    lexemes: Vec<String>,
    /// What it reads of what the prompt computes, and how often that was written before the hole.
    variables: Vec<Arc<str>>,
    writes: u32,
    /// Whether it writes no result without the hole.
    is_idle: bool,
}

impl Behind {
    fn of(useful: &Useful, after: &[&str]) -> Behind {
        let variables: Vec<Arc<str>> = useful.named(after).into_iter().map(Arc::from).collect();
        let writes = useful.writes(&variables);
        let mut behind = Behind { lexemes: lexemes_of(after), variables, writes, is_idle: false };
        behind.is_idle = !behind.writes_result(useful);
        behind
    }

    fn writes_result(&self, useful: &Useful) -> bool {
        let after: Vec<&str> = self.lexemes.iter().map(String::as_str).collect();
        let idle = [Err(Useless::NoOutput), Err(Useless::Overwritten)];
        !idle.contains(&useful.clone().read(&after))
    }

    /// Whether a hole may end here.
    fn is_changed(&self, useful: &Useful) -> bool {
        useful.writes(&self.variables) > self.writes
            && (!self.is_idle || self.writes_result(useful))
    }
}

/// Tries at a kernel's parameters until it may have no buffer to write to.
const HEADS: u32 = 12;

/// Variables of a block that are written to a buffer where a program is ended for want of room.
const MOST_READ: usize = 4;

/// How often what fills a hole is told to change something.
const MOST_ASKED: usize = 12;

impl Usefulness {
    /// Behind a prompt.
    pub(crate) fn of(grammar: &Arc<Grammar>, encoded: &Encoded) -> Usefulness {
        let mut useful = Useful::new();
        let mut constraint = Constraint::new(Arc::clone(grammar));
        let mut begun = Vec::new();
        for token in &encoded.before {
            begun.push(*token);
            if constraint.push(*token).is_ok() && constraint.at_statement() {
                let lexemes = grammar.lexemes(&begun);
                useful.accept(&lexemes.iter().map(String::as_str).collect::<Vec<_>>());
                begun.clear();
            }
        }
        // A statement's rest has its effect from what stands before it, and what stands behind the hole may have one.
        let after = grammar.lexemes(&encoded.after);
        let after: Vec<&str> = after.iter().map(String::as_str).collect();
        let mut duty = Duty::Nothing;
        if !after.is_empty() && begun.is_empty() {
            let behind = Behind::of(&useful, &after);
            if after.iter().any(|lexeme| writes(lexeme)) {
                if !behind.variables.is_empty() {
                    duty = Duty::Change(Arc::new(behind));
                }
            } else if useful.owes(0).is_some() && useful.clone().read(&after).is_err() {
                duty = Duty::Result;
            }
        }
        if !after.is_empty() {
            useful.keep_open();
            useful.keep_items(&after);
        }
        if !after.is_empty() && matches!(duty, Duty::Nothing) {
            useful.ask_no_result();
        }
        let (grammar, forced) = (Arc::clone(grammar), Vec::new());
        let mut usefulness =
            Usefulness { grammar, useful, begun, forced, asked: 0, duty, owes: false };
        usefulness.owes = usefulness.is_owed(&usefulness.useful);
        usefulness
    }

    /// Whether a hole may not end yet: what fills it has not done what it has to.
    pub(crate) fn owes_change(&self) -> bool {
        self.owes
    }

    /// Whether the statement that the hole is in may want a number that compilers know: a label, a length, an attribute.
    pub(crate) fn wants_constant(&self) -> bool {
        let begun = self.grammar.lexemes(&self.begun);
        let begins = begun.first().is_some_and(|word| is_builtin_type(word));
        begun.iter().any(|word| matches!(word.as_str(), "case" | "__attribute__" | "enum"))
            || begins && begun.last().is_some_and(|word| word == "[")
    }

    /// Whether what was drawn names anything but types.
    pub(crate) fn is_named(&self, drawn: &[u16]) -> bool {
        let is_word = |lexeme: &String| {
            lexeme.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        };
        let is_name = |lexeme: &String| {
            is_word(lexeme)
                && !is_builtin_type(lexeme)
                && KEYWORDS.binary_search(&lexeme.as_str()).is_err()
        };
        self.grammar.lexemes(drawn).iter().any(is_name)
    }

    /// What tells work-items apart, where that fills a hole.
    pub(crate) fn item_that_joins(&self, hole: &Constraint, after: &[u16]) -> Option<Vec<u16>> {
        self.useful.items().into_iter().find_map(|item| {
            let tokens = self.grammar.spell(&item)?;
            let mut state = hole.clone();
            let fits = tokens.iter().all(|token| state.push(*token).is_ok()) && state.joins(after);
            fits.then_some(tokens)
        })
    }

    fn is_owed(&self, useful: &Useful) -> bool {
        match &self.duty {
            Duty::Nothing => false,
            Duty::Result => useful.owes(0).is_some(),
            Duty::Change(behind) => self.asked < MOST_ASKED && !behind.is_changed(useful),
        }
    }

    /// Have the model do what it has to before the hole ends; the first token of that.
    pub(crate) fn ask(&mut self) -> Option<u16> {
        match self.duty.clone() {
            Duty::Change(behind) => self.force_change(&behind),
            _ => self.force(),
        }
        self.forced()
    }

    /// The token that has to come next, if any has.
    pub(crate) fn forced(&mut self) -> Option<u16> {
        self.forced.pop()
    }

    /// Leave what comes next to the model.
    pub(crate) fn forget(&mut self) {
        self.forced.clear();
    }

    /// Whether a statement does something; `strayed`: tries at it so far.
    pub(crate) fn read(&mut self, drawn: &[u16], strayed: u32) -> bool {
        self.forced.clear();
        let tokens = [&self.begun[..], drawn].concat();
        let lexemes = self.grammar.lexemes(&tokens);
        let lexemes: Vec<&str> = lexemes.iter().map(String::as_str).collect();
        match self.useful.read(&lexemes) {
            Ok(()) => {}
            // A prompt may leave it none.
            Err(Useless::NoBuffer) if strayed >= HEADS => self.useful.accept(&lexemes),
            Err(Useless::NoOutput) => {
                self.force();
                return false;
            }
            Err(Useless::Unread) => {
                self.force_reading();
                return false;
            }
            Err(_) => return false,
        }
        self.begun.clear();
        self.owes = self.is_owed(&self.useful);
        true
    }

    /// Have the model write a result: it is told where to, and in the end how.
    fn force(&mut self) {
        let owed = match self.duty {
            Duty::Result => Useful::owes,
            _ => Useful::owed,
        };
        let Some(buffer) = owed(&self.useful, self.asked) else { return };
        let items = self.useful.items();
        let mut lexemes = vec![buffer, "["];
        if self.asked > 0 {
            lexemes.extend(items[(self.asked - 1) % items.len()].iter().copied());
            lexemes.extend(["]", if self.asked > 2 { "+=" } else { "=" }]);
        }
        self.asked += 1;
        self.forced = self.grammar.spell(&lexemes).unwrap_or_default();
        self.forced.reverse();
    }

    /// Have the model write what nothing has read to a buffer: it is told how that begins.
    fn force_reading(&mut self) {
        let (unread, items, buffers) =
            (self.useful.unread(), self.useful.items(), self.useful.writable());
        let (Some(unread), Some(buffer)) =
            (unread.last(), buffers.get(self.asked % buffers.len().max(1)))
        else {
            return;
        };
        let lexemes = [&[*buffer, "["], &items[0][..], &["]", "+=", unread]].concat();
        self.asked += 1;
        self.forced = self.grammar.spell(&lexemes).unwrap_or_default();
        self.forced.reverse();
    }

    /// Have the model change what stands behind the hole reads: it is told what, and in the end how.
    fn force_change(&mut self, behind: &Behind) {
        let Some(name) = behind.variables.get(self.asked / 3 % behind.variables.len().max(1))
        else {
            return;
        };
        let (items, readable) = (self.useful.items(), self.useful.readable());
        let mut lexemes = self.place_of(name, &items[0]);
        if !self.asked.is_multiple_of(3) {
            lexemes.push("+=");
        }
        if self.asked % 3 == 2
            && let Some(buffer) = readable.get(self.asked / 3 % readable.len().max(1))
        {
            lexemes.extend([*buffer, "["]);
        }
        let forced = self.grammar.spell(&lexemes).unwrap_or_default();
        self.asked += 1;
        self.forced = forced;
        self.forced.reverse();
    }

    /// A variable as an assignment names it.
    fn place_of<'a>(&self, name: &'a str, item: &[&'a str]) -> Vec<&'a str> {
        match self.useful.has_elements(name) {
            true => [&[name, "["], item, &["]"]].concat(),
            false => vec![name],
        }
    }

    /// Tokens that end what is open and write what was computed, from a state between two statements; `None` where nothing is
    /// missing. The state is that behind them then.
    pub(crate) fn result(&self, constraint: &mut Constraint) -> Option<Vec<u16>> {
        let brace = *self.grammar.spell(&["}"])?.first()?;
        let (mut state, mut useful, mut tokens) =
            (constraint.clone(), self.useful.clone(), Vec::new());
        loop {
            let unread: Vec<String> = useful.unread().into_iter().map(str::to_owned).collect();
            for name in unread.iter().rev().take(MOST_READ) {
                let places = in_buffers(&useful);
                let given = [vec!["+=", name, ";"]];
                let statement = self.statement(&mut useful, &mut state, &places, &given, |_| true);
                tokens.extend(statement.unwrap_or_default());
            }
            if useful.depth() <= 1 || state.push(brace).is_err() {
                break;
            }
            useful.shut();
            tokens.push(brace);
        }
        let is_owed = |useful: &Useful| match self.duty {
            Duty::Change(_) => self.is_owed(useful),
            _ => useful.owes(0).is_some(),
        };
        if is_owed(&useful) {
            let readable: Vec<String> = useful.readable().into_iter().map(str::to_owned).collect();
            let item = lexemes_of(&useful.items()[0]);
            let item: Vec<&str> = item.iter().map(String::as_str).collect();
            let mut given = Vec::new();
            for other in readable.iter().take(3) {
                given.extend(
                    ["+=", "="].map(|sign| [&[sign, other, "["], &item[..], &["]", ";"]].concat()),
                );
            }
            let one = vec!["+=", "1", ";"];
            let places = match &self.duty {
                Duty::Change(behind) => {
                    given.push(one);
                    let named = behind.variables.iter();
                    named.map(|name| lexemes_of(&self.place_of(name, &item))).collect()
                }
                _ => {
                    given.insert(0, one);
                    in_buffers(&useful)
                }
            };
            let enough = |useful: &Useful| !is_owed(useful);
            let statement = self.statement(&mut useful, &mut state, &places, &given, enough);
            tokens.extend(statement.unwrap_or_default());
        }
        (!tokens.is_empty()).then(|| {
            *constraint = state;
            tokens
        })
    }

    /// A statement that writes one of these to a place; what it leaves is `enough`.
    fn statement(
        &self,
        useful: &mut Useful,
        constraint: &mut Constraint,
        places: &[Vec<String>],
        given: &[Vec<&str>],
        enough: impl Fn(&Useful) -> bool,
    ) -> Option<Vec<u16>> {
        for place in places {
            for given in given {
                let place = place.iter().map(String::as_str);
                let lexemes: Vec<&str> = place.chain(given.iter().copied()).collect();
                let (mut next, mut written) = (constraint.clone(), useful.clone());
                let tokens = self.grammar.spell(&lexemes)?;
                let writes = written.read(&lexemes).is_ok() && enough(&written);
                if writes && tokens.iter().all(|token| next.push(*token).is_ok()) {
                    (*constraint, *useful) = (next, written);
                    return Some(tokens);
                }
            }
        }
        None
    }
}

/// Elements of buffers that a kernel may write to.
fn in_buffers(useful: &Useful) -> Vec<Vec<String>> {
    let buffers = useful.writable().into_iter().take(3);
    buffers
        .flat_map(|buffer| {
            let items = useful.items().into_iter();
            items.map(move |item| lexemes_of(&[&[buffer, "["], &item[..], &["]"]].concat()))
        })
        .collect()
}

fn lexemes_of(lexemes: &[&str]) -> Vec<String> {
    lexemes.iter().map(|lexeme| (*lexeme).to_owned()).collect()
}

/// Whether a lexeme may write something: an assignment, or a call.
fn writes(lexeme: &str) -> bool {
    lexeme.ends_with('=') && !["==", "!=", "<=", ">="].contains(&lexeme)
        || ["++", "--", "("].contains(&lexeme)
}

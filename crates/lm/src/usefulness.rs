//! Samples that do something: what was drawn is followed statement by statement.

use crate::sample::Encoded;
use grammar::{Constraint, Grammar, Useful, Useless};
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
    /// Whether what fills a hole has to write the result: what stands around it writes none.
    fills: bool,
}

/// Tries at a kernel's parameters until it may have no buffer to write to.
const HEADS: u32 = 12;

/// Variables of a block that are written to a buffer where a program is ended for want of room.
const MOST_READ: usize = 4;

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
        let fills = !after.is_empty()
            && begun.is_empty()
            && useful.owes(0).is_some()
            && !after.iter().any(|lexeme| writes(lexeme))
            && useful.clone().read(&after).is_err();
        if !after.is_empty() {
            useful.keep_open();
        }
        if !after.is_empty() && !fills {
            useful.ask_no_result();
        }
        let (grammar, forced) = (Arc::clone(grammar), Vec::new());
        Usefulness { grammar, useful, begun, forced, asked: 0, fills }
    }

    /// Whether a hole may not end yet: what fills it has written no result.
    pub(crate) fn owes_result(&self) -> bool {
        self.fills && self.useful.owes(0).is_some()
    }

    /// Have the model write a result before the hole ends; the first token of that.
    pub(crate) fn ask(&mut self) -> Option<u16> {
        self.force();
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
        true
    }

    /// Have the model write a result: it is told where to, and in the end how.
    fn force(&mut self) {
        let owed = if self.fills { Useful::owes } else { Useful::owed };
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

    /// Tokens that end what is open and write what was computed, from a state between two statements; `None` where nothing is
    /// missing. The state is that behind them then.
    pub(crate) fn result(&self, constraint: &mut Constraint) -> Option<Vec<u16>> {
        let brace = *self.grammar.spell(&["}"])?.first()?;
        let (mut state, mut useful, mut tokens) =
            (constraint.clone(), self.useful.clone(), Vec::new());
        loop {
            let unread: Vec<String> = useful.unread().into_iter().map(str::to_owned).collect();
            for name in unread.iter().rev().take(MOST_READ) {
                tokens.extend(
                    self.statement(&mut useful, &mut state, &[&["+=", name, ";"]], false)
                        .unwrap_or_default(),
                );
            }
            if useful.depth() <= 1 || state.push(brace).is_err() {
                break;
            }
            useful.shut();
            tokens.push(brace);
        }
        if useful.owes(0).is_some() {
            let readable: Vec<String> = useful.readable().into_iter().map(str::to_owned).collect();
            let item: Vec<String> = useful.items()[0].iter().map(|one| (*one).to_owned()).collect();
            let item: Vec<&str> = item.iter().map(String::as_str).collect();
            let mut given = vec![vec!["+=", "1", ";"]];
            for other in readable.iter().take(3) {
                given.extend(
                    ["+=", "="].map(|sign| [&[sign, other, "["], &item[..], &["]", ";"]].concat()),
                );
            }
            let given: Vec<&[&str]> = given.iter().map(Vec::as_slice).collect();
            tokens
                .extend(self.statement(&mut useful, &mut state, &given, true).unwrap_or_default());
        }
        (!tokens.is_empty()).then(|| {
            *constraint = state;
            tokens
        })
    }

    /// A statement that writes one of these to a buffer; `result`: so that nothing is owed behind it.
    fn statement(
        &self,
        useful: &mut Useful,
        constraint: &mut Constraint,
        given: &[&[&str]],
        result: bool,
    ) -> Option<Vec<u16>> {
        let before = useful.clone();
        let buffers = before.writable();
        let places = buffers.iter().take(3).flat_map(|buffer| {
            before
                .items()
                .into_iter()
                .map(move |item| [&[*buffer, "["], &item[..], &["]"]].concat())
        });
        for place in places {
            for given in given {
                let lexemes = [&place[..], given].concat();
                let (mut next, mut written) = (constraint.clone(), before.clone());
                let tokens = self.grammar.spell(&lexemes)?;
                let writes =
                    written.read(&lexemes).is_ok() && !(result && written.owes(0).is_some());
                if writes && tokens.iter().all(|token| next.push(*token).is_ok()) {
                    (*constraint, *useful) = (next, written);
                    return Some(tokens);
                }
            }
        }
        None
    }
}

/// Whether a lexeme may write something: an assignment, or a call.
fn writes(lexeme: &str) -> bool {
    lexeme.ends_with('=') && !["==", "!=", "<=", ">="].contains(&lexeme)
        || ["++", "--", "("].contains(&lexeme)
}

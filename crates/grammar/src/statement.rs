//! Statements.

use super::{
    attribute::Attribute,
    declaration::{Declaration, Place},
    express::Purpose,
    parser::{Goal, Lexeme, Outcome, Parser, Refusal, Scope, Step},
    types::Type,
};
use std::sync::Arc;

impl Parser {
    /// What a `for` begins with.
    pub(super) fn for_first(&mut self, lexeme: Lexeme<'_>) -> Outcome {
        if lexeme.text == ";" {
            return Ok(Step::Taken);
        }
        if self.begins_declaration(lexeme) {
            self.want(Goal::Specifiers(Box::new(Declaration::new(Place::ForFirst))));
        } else {
            self.want_all([Parser::expression(Purpose::Statement), Goal::Exactly(";")]);
        }
        Ok(Step::Again)
    }

    /// Behind the value of a `case`.
    pub(super) fn case_end(&mut self) -> Outcome {
        let value = self.case_value.take();
        let known = self.goals.iter_mut().rev().find_map(|goal| match goal {
            Goal::SwitchEnd { cases, .. } => Some(cases),
            _ => None,
        });
        if let (Some(value), Some(known)) = (value, known) {
            if known.contains(&value) {
                return Err(Refusal::Redeclared);
            }
            known.push(value);
        }
        Ok(Step::Again)
    }

    /// Where a `goto` leads.
    pub(super) fn label(&mut self, lexeme: Lexeme<'_>) -> Outcome {
        if !lexeme.is_name() || !(is_label(lexeme.text) || lexeme.partial && lexeme.text == "L") {
            return Err(Refusal::Syntax);
        }
        self.jumps.push(lexeme.text.into());
        Ok(Step::Taken)
    }

    pub(super) fn in_block(&mut self, function: bool, lexeme: Lexeme<'_>) -> Outcome {
        if lexeme.text == "}" {
            if function {
                if self.missing_labels().next().is_some() {
                    return Err(Refusal::Undeclared);
                }
                self.labels.clear();
                self.jumps.clear();
            }
            if self.loop_next {
                return Err(Refusal::Context);
            }
            if !matches!(self.goals[..], [.., Goal::StatementsEnd, Goal::Exactly(_)]) {
                self.statement_value = Type::Void;
            }
            Arc::make_mut(&mut self.scopes).pop();
            return Ok(Step::Taken);
        }
        self.want(Goal::Block { function });
        self.statement(lexeme, true)
    }

    fn in_switch(&self) -> bool {
        self.goals.iter().any(|goal| matches!(goal, Goal::SwitchEnd { .. }))
    }

    fn in_loop(&self) -> bool {
        self.goals.iter().any(|goal| matches!(goal, Goal::LoopEnd))
    }

    pub(super) fn statement(&mut self, lexeme: Lexeme<'_>, declarations: bool) -> Outcome {
        use Goal::Exactly;
        if std::mem::take(&mut self.loop_next)
            && !["for", "while", "do"].iter().any(|word| is_spelled(lexeme, word))
        {
            return Err(Refusal::Context);
        }
        self.statement_value = Type::Void;
        match lexeme.text {
            ";" => {}
            "{" => {
                Arc::make_mut(&mut self.scopes).push(Scope::default());
                self.want(Goal::Block { function: false });
            }
            "if" => self.want_all([
                Exactly("("),
                Parser::expression(Purpose::Condition),
                Exactly(")"),
                Goal::Statement,
                Goal::Else,
            ]),
            "while" => self.want_all([
                Exactly("("),
                Parser::expression(Purpose::Condition),
                Exactly(")"),
                Goal::Statement,
                Goal::LoopEnd,
            ]),
            "do" => self.want_all([
                Goal::Statement,
                Goal::LoopEnd,
                Exactly("while"),
                Exactly("("),
                Parser::expression(Purpose::Condition),
                Exactly(")"),
                Exactly(";"),
            ]),
            "for" => {
                Arc::make_mut(&mut self.scopes).push(Scope::default());
                self.want_all([
                    Exactly("("),
                    Goal::ForFirst,
                    Goal::ForSecond,
                    Goal::ForThird,
                    Goal::Statement,
                    Goal::LoopEnd,
                    Goal::ScopeEnd,
                ]);
            }
            "switch" => self.want_all([
                Exactly("("),
                Parser::expression(Purpose::Choice),
                Exactly(")"),
                Goal::Statement,
                Goal::SwitchEnd { default: false, cases: Vec::new() },
            ]),
            "case" if self.in_switch() => {
                self.labelled(declarations);
                self.case_value = None;
                self.want_all([Parser::expression(Purpose::Case), Goal::CaseEnd, Exactly(":")]);
            }
            "default" if self.in_switch() => {
                let innermost = self.goals.iter_mut().rev().find_map(|goal| match goal {
                    Goal::SwitchEnd { default, .. } => Some(default),
                    _ => None,
                });
                if innermost.is_some_and(|default| std::mem::replace(default, true)) {
                    return Err(Refusal::Redeclared);
                }
                self.labelled(declarations);
                self.want(Exactly(":"));
            }
            "break" if self.in_switch() || self.in_loop() => self.want(Exactly(";")),
            "continue" if self.in_loop() => self.want(Exactly(";")),
            "case" | "default" | "break" | "continue" => return Err(Refusal::Context),
            "goto" => self.want_all([Goal::Label, Exactly(";")]),
            "return" => match self.function.clone() {
                Some((Type::Void, _)) => self.want(Exactly(";")),
                Some((ty, _)) => {
                    self.want_all([Parser::expression(Purpose::Value(ty)), Exactly(";")]);
                }
                None => return Err(Refusal::Context),
            },
            "__attribute__" if declarations => {
                self.want_all([Goal::Attribute(Attribute::Outer), Goal::Attributed]);
            }
            _ => return self.unmarked(lexeme, declarations),
        }
        Ok(Step::Taken)
    }

    /// A statement that no keyword begins: a declaration, a label or an expression.
    fn unmarked(&mut self, lexeme: Lexeme<'_>, declarations: bool) -> Outcome {
        match lexeme.text {
            _ if declarations && self.begins_declaration(lexeme) => {
                self.want(Goal::Specifiers(Box::new(Declaration::new(Place::Block))));
                return Ok(Step::Again);
            }
            _ if lexeme.partial
                && (is_label(lexeme.text) || lexeme.text == "L")
                && lexeme.is_name() => {}
            _ if lexeme.is_name()
                && is_label(lexeme.text)
                && self.lookup(lexeme.text).is_none() =>
            {
                if self.labels.iter().any(|label| **label == *lexeme.text) {
                    return Err(Refusal::Redeclared);
                }
                self.labels.push(lexeme.text.into());
                self.labelled(declarations);
                self.want(Goal::Exactly(":"));
            }
            _ => {
                self.want_all([Parser::expression(Purpose::Statement), Goal::Exactly(";")]);
                return Ok(Step::Again);
            }
        }
        Ok(Step::Taken)
    }

    /// What a label stands before: in a block that is what comes next anyway.
    fn labelled(&mut self, block: bool) {
        if !block {
            self.want(Goal::Statement);
        }
    }
}

/// Whether a lexeme is a word, or may become it.
fn is_spelled(lexeme: Lexeme<'_>, word: &str) -> bool {
    lexeme.text == word || lexeme.partial && word.starts_with(lexeme.text)
}

/// `La`, `Lb`, …: the names that the rewriter gives to labels.
pub(super) fn is_label(name: &str) -> bool {
    name.len() > 1
        && name.starts_with('L')
        && name[1..].bytes().all(|byte| byte.is_ascii_lowercase())
}

//! Names changed throughout a program's text and tree.

use crate::program::{Node, Statement};
use std::collections::HashMap;

/// Other names for some.
pub(super) struct Names(pub(super) HashMap<String, String>);

impl Names {
    /// Calls something otherwise, unless that is done.
    pub(super) fn add(&mut self, name: &str, other: impl FnOnce() -> String) {
        if !self.0.contains_key(name) {
            self.0.insert(name.to_owned(), other());
        }
    }

    /// A text with the others; members of records keep theirs.
    pub(super) fn in_text(&self, text: &str) -> String {
        let mut made = String::with_capacity(text.len());
        let (mut end, mut before) = (0, "");
        for token in lexer::tokens(text) {
            made.push_str(&text[end..token.begin]);
            let other = self.0.get(token.text).filter(|_| ![".", "->"].contains(&before));
            made.push_str(other.map_or(token.text, String::as_str));
            (end, before) = (token.end(), token.text);
        }
        made.push_str(&text[end..]);
        made
    }

    pub(super) fn rename(&self, list: &mut [Statement]) {
        for statement in list.iter_mut() {
            statement.each_expression(&mut |expression| match &mut expression.node {
                Node::Name(text) | Node::Call(text, _) | Node::Opaque(text) => {
                    *text = self.in_text(text);
                }
                _ => {}
            });
        }
        self.rename_declared(list);
    }

    /// What is no expression: what declares variables, and statements that are known by their text alone.
    fn rename_declared(&self, list: &mut [Statement]) {
        for statement in list {
            match statement {
                Statement::Declare { prefix, name, .. } => {
                    *prefix = self.in_text(prefix);
                    *name = self.in_text(name);
                }
                Statement::Opaque(text) => *text = self.in_text(text),
                Statement::Evaluate(_) => {}
                Statement::If { then, otherwise, .. } => {
                    self.rename_declared(then);
                    self.rename_declared(otherwise.as_deref_mut().unwrap_or_default());
                }
                Statement::For { start, body, .. } => {
                    if let Some(start) = start {
                        self.rename_declared(std::slice::from_mut(&mut **start));
                    }
                    self.rename_declared(body);
                }
                Statement::While { body, .. }
                | Statement::Do { body, .. }
                | Statement::Block(body) => self.rename_declared(body),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_of_records_keep_their_names() {
        let mut names = Names(HashMap::new());
        for (name, other) in [("a", "p1"), ("f", "p2"), ("a", "p3")] {
            names.add(name, || other.to_owned());
        }
        assert_eq!(names.in_text("a.a = f(b->a, aa) + a; // a"), "p1.a = p2(b->a, aa) + p1; // a");
    }
}

//! The kernels that a program is made of.

use super::Program;
use rows::Ancestor;
use std::sync::Arc;

/// Each once, in the order in which they came in; shared, because programs are copied by the thousand.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Ancestors(Arc<[Ancestor]>);

impl Ancestors {
    pub(crate) fn new(mut all: Vec<Ancestor>) -> Ancestors {
        let mut at = 0;
        while at < all.len() {
            if all[..at].contains(&all[at]) {
                all.remove(at);
            } else {
                at += 1;
            }
        }
        Ancestors(all.into())
    }

    pub(crate) fn to_vec(&self) -> Vec<Ancestor> {
        self.0.to_vec()
    }

    /// Those of another program, too. Nothing is copied where none of them is new.
    pub(crate) fn add(&mut self, others: &Ancestors) {
        if Arc::ptr_eq(&self.0, &others.0) {
            return;
        }
        if self.is_empty() {
            self.0 = Arc::clone(&others.0);
            return;
        }
        let mut new = others.0.iter().filter(|other| !self.0.contains(other)).peekable();
        if new.peek().is_some() {
            self.0 = self.0.iter().chain(new).cloned().collect();
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Program {
    /// The program, known to be made of these.
    pub(crate) fn made_of(self, ancestors: &Ancestors) -> Program {
        Program { ancestors: ancestors.clone(), ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    fn of(names: &[&str]) -> Ancestors {
        let named = |name: &&str| Ancestor { name: (*name).to_owned(), ..Ancestor::default() };
        Ancestors::new(names.iter().map(named).collect())
    }

    #[test]
    fn each_is_there_once() {
        let mut all = of(&["a", "b", "a"]);
        all.add(&of(&["c", "b"]));
        assert_eq!(all, of(&["a", "b", "c"]));
        assert!(of(&[]).is_empty());
    }

    #[test]
    fn nothing_is_copied_where_none_is_new() {
        let mut all = of(&["a", "b"]);
        let before = Arc::clone(&all.0);
        for others in [of(&[]), of(&["b"]), of(&["b", "a"]), all.clone()] {
            all.add(&others);
            assert!(Arc::ptr_eq(&all.0, &before));
        }
        let mut none = of(&[]);
        none.add(&all);
        assert!(Arc::ptr_eq(&none.0, &before));
    }

    #[test]
    fn a_program_passes_them_on() {
        let mut program = Program::empty().made_of(&of(&["a"]));
        assert_eq!(program.paragraph(&mut crate::Rng::seed_from_u64(1)).ancestors, of(&["a"]));
        let other = Program::empty().made_of(&of(&["b"]));
        let joined = program.followed_by(&other).expect("both are alone");
        assert_eq!(joined.ancestors, of(&["a", "b"]));
        let merged = Program::merge(&Program::empty(), &program, &other).expect("nothing changed");
        assert_eq!(merged.ancestors, of(&["a", "b"]));
    }
}

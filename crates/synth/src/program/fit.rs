//! Programs with the parameters that are asked for.

use super::{Parameter, Program, Ty};
use std::collections::HashSet;

impl Program {
    /// The program with parameters of these types, in their order: those of its own that it uses, then others of its own, then
    /// new ones that nothing uses. `None` where it uses one that has no place among them.
    pub(crate) fn with_parameters(&self, types: &[Ty]) -> Option<Program> {
        if self.parameters.iter().map(|one| one.ty).eq(types.iter().copied()) {
            return Some(self.clone());
        }
        let mut program = Program { parameters: Vec::new(), ..self.clone() };
        let text = program.to_string();
        let used: HashSet<&str> = lexer::tokens(&text).map(|token| token.text).collect();
        let is_used = |one: &&Parameter| used.contains(one.name.as_str());
        let (named, spare): (Vec<&Parameter>, Vec<&Parameter>) =
            self.parameters.iter().partition(is_used);
        let mut places: Vec<Option<Parameter>> = vec![None; types.len()];
        for (own, must_fit) in
            named.iter().map(|own| (own, true)).chain(spare.iter().map(|own| (own, false)))
        {
            let place = (0..types.len()).find(|at| places[*at].is_none() && types[*at] == own.ty);
            match place {
                Some(at) => places[at] = Some(Parameter::clone(own)),
                None if must_fit => return None,
                None => {}
            }
        }
        program.parameters = places.iter().flatten().cloned().collect();
        let mut parameters = Vec::new();
        for (place, ty) in places.into_iter().zip(types) {
            parameters.push(match place {
                Some(own) => own,
                None => {
                    program.add_parameter(*ty);
                    program.parameters.pop()?
                }
            });
        }
        program.parameters = parameters;
        Some(program)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::{Expression, Statement};

    fn program(parameters: &[(&str, Ty)], set: &str, to: &str) -> Program {
        let (set, to) = (Expression::name(Ty::INT, set), Expression::name(Ty::INT, to));
        let parameter = |(name, ty): &(&str, Ty)| Parameter {
            text: format!("{ty} {name}"),
            name: (*name).to_owned(),
            ty: *ty,
        };
        Program {
            parameters: parameters.iter().map(parameter).collect(),
            body: vec![Statement::Evaluate(Expression::assign(set, to))],
            ..Program::empty()
        }
    }

    #[test]
    fn parameters_stand_in_the_order_that_is_asked_for() {
        let names = |program: &Program| {
            program.parameters.iter().map(|one| one.text.clone()).collect::<Vec<_>>().join(", ")
        };
        let own = program(&[("a", Ty::INT), ("b", Ty::FLOAT), ("c", Ty::INT)], "a", "c");
        let same = own.with_parameters(&[Ty::INT, Ty::FLOAT, Ty::INT]).expect("it has them");
        assert_eq!(same, own);
        let other = own.with_parameters(&[Ty::FLOAT, Ty::INT, Ty::INT, Ty::SIZE]);
        assert_eq!(names(&other.expect("there is room")), "float b, int a, int c, ulong p0");
        assert_eq!(own.with_parameters(&[Ty::INT, Ty::FLOAT]), None);
        let spare = program(&[("a", Ty::INT), ("p0", Ty::FLOAT)], "a", "a");
        let other = spare.with_parameters(&[Ty::SIZE, Ty::INT]).expect("one may go");
        assert_eq!(names(&other), "ulong p0, int a");
    }
}

//! Programs with the parameters that are asked for.

use super::{Parameter, Program, Ty};
use std::collections::HashSet;

impl Program {
    /// The program with parameters of these types, in their order: those of its own that it uses, then others of its own, then
    /// new ones that nothing uses. A buffer that is only read may be `const` or not. `None` where it uses one that has no place
    /// among them.
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
            let free =
                |ty: Ty| (0..types.len()).find(|at| places[*at].is_none() && types[*at] == ty);
            let other =
                || of_the_other_constness(own.ty).filter(|_| self.only_read().contains(&own.name));
            match free(own.ty).or_else(|| other().and_then(free)) {
                Some(at) if types[at] == own.ty => places[at] = Some(Parameter::clone(own)),
                Some(at) => {
                    let (ty, name) = (types[at], own.name.clone());
                    places[at] = Some(Parameter { text: format!("{ty} {name}"), name, ty });
                }
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

/// The same pointer, to what is `const` where that is to what is not, and the other way round.
pub(super) fn of_the_other_constness(ty: Ty) -> Option<Ty> {
    match ty {
        Ty::Pointer { space, scalar, lanes, constant } => {
            Some(Ty::Pointer { space, scalar, lanes, constant: !constant })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Arguments, Judge,
        program::{Expression, Statement},
    };

    #[test]
    fn what_is_only_read_may_be_const() {
        let judge = Judge::new(features::space("instcount").expect("registered"), 1)
            .unwrap_or_else(|error| panic!("{error}"));
        let fitted = |body: &str| {
            let text = format!(
                "__kernel void A(__global float* a, __global float* b, int c) {{ int d = get_global_id(0); {body} }}"
            );
            let wanted: Arguments = "global float*, global const float*, int".parse().unwrap();
            let fitted = judge.read_one(&text)?.with_parameters(wanted.types())?;
            wanted.are_of(&fitted.to_string()).then(|| fitted.to_string())
        };
        let text = fitted("a[d] = b[d + c];").expect("b is only read");
        assert!(text.contains("const float* b"), "{text}");
        assert_eq!(fitted("a[d] = b[d]; b[d] = c;"), None);
    }

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

//! Crossover: a statement of one program in another, its names bound to what is known there.

use super::{Candidate, Proposer, State};
use crate::{
    edit::{Rng, Zone, random_point, random_statement},
    program::{Expression, Node, Program, Scope, Statement, Ty},
};
use rand::{Rng as _, seq::IndexedRandom};
use std::collections::HashMap;

/// How many of the nearest mined kernels give statements.
const DONORS: usize = 64;

/// Takes statements from survivors and the nearest mined kernels to survivors.
#[derive(Debug)]
pub(super) struct Crossover;

impl Proposer for Crossover {
    fn name(&self) -> &'static str {
        "crossover"
    }

    fn propose(&mut self, state: &State<'_>, count: usize, rng: &mut Rng) -> Vec<Candidate> {
        state.each(count, rng, |rng| one(state, rng))
    }
}

fn one(state: &State<'_>, rng: &mut Rng) -> Option<Candidate> {
    let parent = state.parent(rng)?.clone();
    let mut program = parent.program.clone()?;
    let donors = state.nearest.len().min(DONORS);
    let mut donor = if donors > 0 && rng.random_bool(0.5) {
        state.seed(state.nearest[rng.random_range(0..donors)])?.clone()
    } else {
        state.survivors.choose(rng)?.program.clone()?
    };
    let given = random_statement(&mut donor, Zone::Any, rng, |statement| {
        !matches!(statement, Statement::Declare { .. } | Statement::Opaque(_))
    })?;
    let scope = given.scope.clone();
    let mut statement = None;
    given.change(&mut donor, |list, at| statement = Some(list[at].clone()));
    let statement = bind(&mut program, statement?, &scope, rng)?;
    program.ancestors.add(&donor.ancestors);
    let point = random_point(&mut program, Zone::Any, rng, |_| true)?;
    let replaces = rng.random_bool(0.4);
    point.change(&mut program, |list, at| {
        let is_free = list.get(at).is_some_and(|old| !matches!(old, Statement::Declare { .. }));
        let end = if replaces && is_free { at + 1 } else { at };
        list.splice(at..end, [statement]).for_each(drop);
    });
    Some(Candidate::of_program(program, Some(parent)))
}

/// The statement with the names that it takes from `scope` replaced by fresh parameters of the same
/// type, or by parameters that the program has.
fn bind(
    program: &mut Program,
    statement: Statement,
    scope: &Scope,
    rng: &mut Rng,
) -> Option<Statement> {
    let mut names: HashMap<String, String> = HashMap::new();
    for variable in &scope.variables {
        let known: Vec<&str> = program
            .parameters
            .iter()
            .filter(|parameter| parameter.ty == variable.ty)
            .map(|parameter| parameter.name.as_str())
            .collect();
        if let Some(name) = known.choose(rng) {
            names.insert(variable.name.clone(), (*name).to_owned());
        }
    }
    let mut carrier = Program { body: vec![statement], ..Program::empty() };
    let mut missing: Vec<(String, Ty)> = Vec::new();
    let mut rename = Rename { names: &names, missing: &mut missing, scope };
    rename.all(&mut carrier.body);
    for (name, ty) in missing {
        if ty == Ty::Other {
            return None;
        }
        let Node::Name(fresh) = program.add_parameter(ty).node else { return None };
        let again = HashMap::from([(name, fresh)]);
        let mut none = Vec::new();
        Rename { names: &again, missing: &mut none, scope: &Scope::default() }
            .all(&mut carrier.body);
    }
    carrier.body.pop()
}

/// Replaces names wherever an expression holds them.
struct Rename<'a> {
    names: &'a HashMap<String, String>,
    missing: &'a mut Vec<(String, Ty)>,
    scope: &'a Scope,
}

impl Rename<'_> {
    fn all(&mut self, list: &mut [Statement]) {
        for statement in list {
            statement.each_expression(&mut |expression: &mut Expression| self.name(expression));
        }
    }

    fn name(&mut self, expression: &mut Expression) {
        let Node::Name(name) = &mut expression.node else { return };
        if let Some(other) = self.names.get(name) {
            other.clone_into(name);
        } else if let Some(known) = self.scope.variables.iter().find(|known| known.name == *name)
            && self.missing.iter().all(|(missing, _)| missing != name)
        {
            self.missing.push((name.clone(), known.ty));
        }
    }
}

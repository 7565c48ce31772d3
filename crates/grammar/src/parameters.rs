//! Parameters of functions, and what follows them.

use super::{
    attribute::Attribute,
    declaration::Declaration,
    parser::{Goal, Lexeme, Name, Outcome, Parser, Refusal, Scope, Step, Symbol},
    types::{Function, Scalar, Space, Type},
};
use std::sync::Arc;

/// A parameter of a function.
#[derive(Clone, Debug, Hash)]
pub(super) struct Parameter {
    pub(super) name: Option<Name>,
    pub(super) ty: Type,
    pub(super) constant: bool,
    pub(super) host_sized: bool,
}

impl Parser {
    pub(super) fn parameters(
        &mut self,
        d: Box<Declaration>,
        mut all: Vec<Parameter>,
        lexeme: Lexeme<'_>,
    ) -> Outcome {
        let kernel = d.is_kernel();
        let known = match d.name.as_ref().and_then(|name| self.lookup(name)) {
            Some(Symbol::Function { ty: Type::Function(known), .. }) if !self.overloadable => {
                Some(Arc::clone(known))
            }
            _ => None,
        };
        // Whether an earlier declaration has so many parameters, where there is one.
        let declared =
            |count: usize| known.as_ref().is_none_or(|known| known.parameters.len() == count);
        if let Some(parameter) = self.parameter_value.take() {
            let lonely = parameter.ty == Type::Void && parameter.name.is_none() && all.is_empty();
            if lonely && lexeme.text == ")" && declared(0) {
                self.want(Goal::AfterParameters(d, all));
                return Ok(Step::Taken);
            }
            let again =
                all.iter().any(|other| other.name.is_some() && other.name == parameter.name);
            if again {
                return Err(Refusal::Redeclared);
            }
            let held = self.holds(&parameter.ty);
            if parameter.ty == Type::Void || !held || kernel && !fits_kernel(&parameter) {
                return Err(Refusal::Type);
            }
            let same =
                |known: &Arc<Function>| known.parameters.get(all.len()) == Some(&parameter.ty);
            if !known.as_ref().is_none_or(same) {
                return Err(Refusal::Redeclared);
            }
            all.push(parameter);
            match lexeme.text {
                ")" if !declared(all.len()) => return Err(Refusal::Redeclared),
                ")" => self.want(Goal::AfterParameters(d, all)),
                _ => {
                    self.want(Goal::Parameters(d, all));
                    self.want(Goal::Specifiers(Declaration::parameter(kernel)));
                }
            }
            return Ok(Step::Taken);
        }
        if lexeme.text == ")" && all.is_empty() && declared(0) {
            self.want(Goal::AfterParameters(d, all));
            return Ok(Step::Taken);
        }
        self.want(Goal::Parameters(d, all));
        self.want(Goal::Specifiers(Declaration::parameter(kernel)));
        Ok(Step::Again)
    }

    pub(super) fn after_parameters(
        &mut self,
        d: Box<Declaration>,
        all: Vec<Parameter>,
        lexeme: Lexeme<'_>,
    ) -> Outcome {
        let Some(name) = d.name.clone() else { return Err(Refusal::Syntax) };
        match lexeme.text {
            "__attribute__" => {
                self.want(Goal::AfterParameters(d, all));
                self.want(Goal::Attribute(Attribute::Outer));
            }
            // A kernel that is only announced is none, and what has no name is of no use to it.
            ";" if d.is_kernel() => return Err(Refusal::Context),
            "{" if d.is_kernel() && all.iter().any(|parameter| parameter.name.is_none()) => {
                return Err(Refusal::Syntax);
            }
            "{" | ";" => {
                let defined = lexeme.text == "{";
                if std::mem::take(&mut self.kernel_only) && !d.is_kernel() {
                    return Err(Refusal::Context);
                }
                let function = Function {
                    result: d.current.clone(),
                    parameters: all.iter().map(|parameter| parameter.ty.clone()).collect(),
                    variadic: false,
                };
                let function = Arc::new(function);
                let mut ty = Type::Function(Arc::clone(&function));
                match self.lookup(&name) {
                    Some(Symbol::Function { ty: known, defined: before }) if self.overloadable => {
                        ty = overloaded(known, *before, function, defined)
                            .ok_or(Refusal::Redeclared)?;
                    }
                    Some(Symbol::Function { defined: true, .. }) if defined => {
                        return Err(Refusal::Redeclared);
                    }
                    Some(Symbol::Function { ty: known, .. })
                        if *known != ty && *known != Type::Unknown =>
                    {
                        return Err(Refusal::Redeclared);
                    }
                    _ => {}
                }
                self.here().symbols.retain(|(known, _)| *known != name);
                self.declare(name, Symbol::Function { ty, defined });
                // Structs that parameters name first are the function's own.
                let tags = &mut self.here().tags;
                let tags = tags.split_off(d.tags.min(tags.len()));
                if defined {
                    self.kernels += usize::from(d.is_kernel());
                    self.function = Some((d.current.clone(), d.is_kernel()));
                    Arc::make_mut(&mut self.scopes).push(Scope { tags, ..Scope::default() });
                    for parameter in all {
                        let Some(name) = parameter.name else { continue };
                        let symbol = Symbol::Variable {
                            ty: parameter.ty,
                            constant: parameter.constant,
                            space: Space::Private,
                            fixed: false,
                        };
                        self.declare(name, symbol);
                    }
                    self.want(Goal::FunctionEnd);
                    self.want(Goal::Block { function: true });
                }
            }
            _ => return Err(Refusal::Syntax),
        }
        Ok(Step::Taken)
    }
}

/// The functions of a name with one more; `None` where it goes against one of them.
fn overloaded(known: &Type, before: bool, function: Arc<Function>, defined: bool) -> Option<Type> {
    let mut all = match known {
        Type::Function(one) => vec![(Arc::clone(one), before)],
        Type::Overloads(all) => all.to_vec(),
        _ => return None,
    };
    match all.iter_mut().find(|(one, _)| one.parameters == function.parameters) {
        Some((one, before)) if one.result != function.result || *before && defined => return None,
        Some((_, before)) => *before |= defined,
        None => all.push((function, defined)),
    }
    Some(if all.len() == 1 {
        Type::Function(Arc::clone(&all[0].0))
    } else {
        Type::Overloads(Arc::new(all))
    })
}

/// Whether a kernel may have such a parameter (OpenCL C 2.0, section 6.9).
fn fits_kernel(parameter: &Parameter) -> bool {
    if parameter.host_sized {
        return false;
    }
    match &parameter.ty {
        Type::Pointer(target) => {
            matches!(target.space, Space::Global | Space::Local | Space::Constant)
        }
        Type::Scalar(Scalar::Bool) => false,
        _ => true,
    }
}

//! Structs, unions, enumerations, and lists of values in braces.

use super::{
    attribute::Attribute,
    declare::{Declaration, Place},
    express::Purpose,
    parser::{Goal, Lexeme, Members, Name, Outcome, Parser, Refusal, Step, Symbol},
    types::{Scalar, Type},
};
use std::sync::Arc;

impl Parser {
    pub(super) fn tag(&mut self, union: bool, name: Option<Name>, lexeme: Lexeme<'_>) -> Outcome {
        match lexeme.text {
            "__attribute__" => {
                self.want(Goal::Tag { union, name });
                self.want(Goal::Attribute(Attribute::Outer));
                return Ok(Step::Taken);
            }
            "{" => {
                let at = match name.as_ref().and_then(|name| self.find_tag(name)) {
                    Some(Type::Struct(at))
                        if !self.structs[at].complete && self.structs[at].union == union =>
                    {
                        at
                    }
                    _ => {
                        let here = &self.scopes.last().ok_or(Refusal::Syntax)?.tags;
                        if here.iter().any(|(known, _)| Some(known) == name.as_ref()) {
                            return Err(Refusal::Redeclared);
                        }
                        Arc::make_mut(&mut self.structs)
                            .push(Members { union, ..Members::default() });
                        self.structs.len() - 1
                    }
                };
                if let Some(name) = name {
                    self.here().tags.push((name, Type::Struct(at)));
                }
                self.want(Goal::Members(at));
                return Ok(Step::Taken);
            }
            _ => {}
        }
        match name {
            None if lexeme.is_name() => {
                self.want(Goal::Tag { union, name: Some(lexeme.text.into()) });
                Ok(Step::Taken)
            }
            None => Err(Refusal::Syntax),
            Some(name) => {
                let known = self.find_tag(&name);
                let same = |ty: &Type| match ty {
                    Type::Struct(at) => self.structs[*at].union == union,
                    _ => false,
                };
                if !known.as_ref().is_none_or(same) {
                    return Err(Refusal::Redeclared);
                }
                let ty = known.unwrap_or_else(|| {
                    // Not complete yet: good for pointers only.
                    Arc::make_mut(&mut self.structs).push(Members { union, ..Members::default() });
                    let ty = Type::Struct(self.structs.len() - 1);
                    self.here().tags.push((name, ty.clone()));
                    ty
                });
                self.type_value = ty;
                Ok(Step::Again)
            }
        }
    }

    pub(super) fn find_tag(&self, name: &str) -> Option<Type> {
        let all = self.scopes.iter().rev().flat_map(|scope| &scope.tags);
        all.into_iter().find(|(known, _)| **known == *name).map(|(_, ty)| ty.clone())
    }

    pub(super) fn members(&mut self, at: usize, lexeme: Lexeme<'_>) -> Outcome {
        if lexeme.text == "}" {
            Arc::make_mut(&mut self.structs)[at].complete = true;
            self.type_value = Type::Struct(at);
            return Ok(Step::Taken);
        }
        self.want(Goal::Members(at));
        if lexeme.text == ";" {
            return Ok(Step::Taken);
        }
        self.want(Goal::Specifiers(Box::new(Declaration::new(Place::Member(at)))));
        Ok(Step::Again)
    }

    /// Members of a struct without a name are members of the one that it stands in.
    pub(super) fn adopt(&mut self, at: usize, inner: usize) -> Result<(), Refusal> {
        let mut tags = self.scopes.iter().flat_map(|scope| &scope.tags);
        if tags.any(|(_, ty)| *ty == Type::Struct(inner)) {
            return Ok(());
        }
        let members = self.structs[inner].all.clone();
        let known = &mut Arc::make_mut(&mut self.structs)[at].all;
        if members.iter().any(|(name, _)| known.iter().any(|(other, _)| other == name)) {
            return Err(Refusal::Redeclared);
        }
        known.extend(members);
        Ok(())
    }

    /// Behind `enum`.
    pub(super) fn enum_tag(&mut self, name: Option<Name>, lexeme: Lexeme<'_>) -> Outcome {
        match (lexeme.text, name) {
            ("{", name) => {
                if let Some(name) = name {
                    if self.here().tags.iter().any(|(known, _)| *known == name) {
                        return Err(Refusal::Redeclared);
                    }
                    self.here().tags.push((name, Type::Scalar(Scalar::Int)));
                }
                self.want(Goal::Enumerators { value: false, any: false });
                Ok(Step::Taken)
            }
            (_, None) if lexeme.is_name() => {
                self.want(Goal::EnumTag(Some(lexeme.text.into())));
                Ok(Step::Taken)
            }
            (_, Some(name)) => {
                let known = self.find_tag(&name).filter(|ty| !matches!(ty, Type::Struct(_)));
                self.type_value = known.ok_or(Refusal::Undeclared)?;
                Ok(Step::Again)
            }
            _ => Err(Refusal::Syntax),
        }
    }

    pub(super) fn enumerators(&mut self, value: bool, any: bool, lexeme: Lexeme<'_>) -> Outcome {
        match lexeme.text {
            "}" if any => {
                self.type_value = Type::Scalar(Scalar::Int);
                return Ok(Step::Taken);
            }
            "," if value => self.want(Goal::Enumerators { value: false, any }),
            "=" if value => {
                self.want(Goal::Enumerators { value: true, any: true });
                self.want_expression(Purpose::Size);
            }
            name if !value && lexeme.is_name() => {
                if !lexeme.partial {
                    if self.here().symbols.iter().any(|(known, _)| **known == *name) {
                        return Err(Refusal::Redeclared);
                    }
                    self.declare(name.into(), Symbol::Enumerator);
                }
                self.want(Goal::Enumerators { value: true, any: true });
            }
            _ => return Err(Refusal::Syntax),
        }
        Ok(Step::Taken)
    }

    pub(super) fn list(
        &mut self,
        ty: Type,
        filled: bool,
        lanes: Option<u8>,
        lexeme: Lexeme<'_>,
    ) -> Outcome {
        let mut lanes = lanes;
        if let (Type::Vector(scalar, most), true) = (&ty, filled) {
            // Components of vectors are given one by one or several at a time.
            let given = self.operand_value.take().map_or(Type::Unknown, |value| value.ty);
            lanes = lanes.filter(|_| given != Type::Unknown).map(|lanes| lanes + given.lanes());
            let fits = match given {
                Type::Vector(own, _) => own == *scalar,
                _ => true,
            };
            let full =
                lanes.is_none_or(|lanes| lanes == *most || lexeme.text == "," && lanes < *most);
            if !fits || !full {
                return Err(Refusal::Arity);
            }
        }
        let inner = match &ty {
            Type::Array(target) => target.ty.clone(),
            Type::Vector(scalar, _) => Type::Scalar(*scalar),
            Type::Scalar(_) | Type::Pointer(_) => ty.clone(),
            _ => Type::Unknown,
        };
        match lexeme.text {
            "}" if filled || !matches!(ty, Type::Vector(..)) => return Ok(Step::Taken),
            "," if filled => self.want(Goal::List { ty, filled: false, lanes }),
            _ if filled => return Err(Refusal::Syntax),
            "." | "[" => {
                // A designator names what follows: nothing is checked.
                self.want(Goal::List { ty: Type::Unknown, filled: true, lanes: None });
                self.want(Goal::Initialiser(Type::Unknown));
                self.want(Goal::Exactly("="));
                if lexeme.text == "[" {
                    self.want(Goal::Exactly("]"));
                    self.want_expression(Purpose::Size);
                } else {
                    self.want(Goal::Word);
                }
            }
            _ => {
                // Braces around inner lists may be left out.
                let single = inner.element().is_some() || matches!(inner, Type::Pointer(_));
                let inner = if lexeme.text == "{" || single { inner } else { Type::Unknown };
                let inner = match ty {
                    Type::Vector(..) => Type::Unknown,
                    _ => inner,
                };
                self.want(Goal::List { ty, filled: true, lanes });
                self.want(Goal::Initialiser(inner));
                return Ok(Step::Again);
            }
        }
        Ok(Step::Taken)
    }
}

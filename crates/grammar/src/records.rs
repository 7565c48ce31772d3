//! Structs, unions, enumerations, and lists of values in braces.

use super::{
    attribute::Attribute,
    declaration::{Declaration, Place},
    express::Purpose,
    parser::{Goal, Lexeme, Members, Name, Outcome, Parser, Refusal, Sort, Step, Symbol},
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
                self.want(Goal::Enumerators { name: None, any: false });
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

    pub(super) fn enumerators(
        &mut self,
        name: Option<Name>,
        any: bool,
        lexeme: Lexeme<'_>,
    ) -> Outcome {
        match (lexeme.text, name) {
            ("}", name) if any => {
                self.enumerate(name);
                self.type_value = Type::Scalar(Scalar::Int);
                return Ok(Step::Taken);
            }
            (",", Some(name)) => {
                self.enumerate(Some(name));
                self.want(Goal::Enumerators { name: None, any });
            }
            ("=", Some(name)) => {
                self.want(Goal::Enumerators { name: Some(name), any: true });
                self.want_expression(Purpose::Size);
            }
            (name, None) if lexeme.is_name() => {
                if !lexeme.partial && self.here().symbols.iter().any(|(known, _)| **known == *name)
                {
                    return Err(Refusal::Redeclared);
                }
                self.want(Goal::Enumerators { name: Some(name.into()), any: true });
            }
            _ => return Err(Refusal::Syntax),
        }
        Ok(Step::Taken)
    }

    /// A constant can be used behind its own value.
    fn enumerate(&mut self, name: Option<Name>) {
        if let Some(name) = name {
            self.declare(name, Symbol::Enumerator);
        }
    }

    pub(super) fn list(
        &mut self,
        ty: Type,
        filled: bool,
        count: Option<u8>,
        fixed: bool,
        lexeme: Lexeme<'_>,
    ) -> Outcome {
        let mut count = count;
        if let (Type::Vector(scalar, most), true) = (&ty, filled) {
            // Components of vectors are given one by one or several at a time.
            let given = self.operand_value.take().map_or(Type::Unknown, |value| value.ty);
            count = count.filter(|_| given != Type::Unknown).map(|count| count + given.lanes());
            let fits = match given {
                Type::Vector(own, _) => own == *scalar,
                Type::Scalar(_) | Type::Unknown => true,
                _ => false,
            };
            let full =
                count.is_none_or(|count| count == *most || lexeme.text == "," && count < *most);
            if !fits || !full {
                return Err(Refusal::Arity);
            }
        }
        match lexeme.text {
            "}" if filled || !matches!(ty, Type::Vector(..)) => return Ok(Step::Taken),
            "," if filled => self.want(Goal::List { ty, filled: false, count, fixed }),
            _ if filled => return Err(Refusal::Syntax),
            "." | "[" => {
                // A designator names what follows, whose type is not checked.
                let named = matches!(ty, Type::Struct(_) | Type::Unknown) && lexeme.text == ".";
                let placed = matches!(ty, Type::Array(_) | Type::Unknown) && lexeme.text == "[";
                if !named && !placed {
                    return Err(Refusal::Type);
                }
                self.want(Goal::List { ty: ty.clone(), filled: true, count: None, fixed });
                self.want(Goal::Initializer { ty: Type::Unknown, fixed });
                self.want(Goal::Exactly("="));
                if lexeme.text == "[" {
                    self.want(Goal::Exactly("]"));
                    self.want_expression(Purpose::Size);
                } else {
                    self.want(Goal::Designator(ty));
                }
            }
            _ => {
                let inner = self.element(&ty, count);
                let braced = lexeme.text == "{";
                let letters =
                    |target: &Type| matches!(target, Type::Scalar(Scalar::Char | Scalar::Uchar));
                let (inner, whole) = match (inner, &ty) {
                    (_, Type::Vector(..)) => (Type::Unknown, false),
                    (Type::Array(target), _)
                        if !(braced || lexeme.sort == Sort::Text && letters(&target.ty)) =>
                    {
                        // Braces around inner lists may be left out.
                        (leaf(&target.ty), false)
                    }
                    (inner @ (Type::Struct(_) | Type::Unknown), _) if !braced => {
                        (Type::Unknown, matches!(inner, Type::Unknown))
                    }
                    (inner, _) => (inner, true),
                };
                if let Type::Struct(_) = ty {
                    count = count.filter(|_| whole).map(|count| count.saturating_add(1));
                }
                self.want(Goal::List { ty, filled: true, count, fixed });
                self.want(Goal::Initializer { ty: inner, fixed });
                return Ok(Step::Again);
            }
        }
        Ok(Step::Taken)
    }

    /// The type of what stands next in a list for something of this type.
    fn element(&self, ty: &Type, count: Option<u8>) -> Type {
        match ty {
            Type::Array(target) => target.ty.clone(),
            Type::Vector(scalar, _) => Type::Scalar(*scalar),
            Type::Scalar(_) | Type::Pointer(_) => ty.clone(),
            Type::Struct(at) => {
                let members = &self.structs[*at];
                let next = count.and_then(|count| members.all.get(usize::from(count)));
                let known = next.filter(|_| !members.union || count == Some(0));
                known.map_or(Type::Unknown, |(_, ty)| ty.clone())
            }
            _ => Type::Unknown,
        }
    }

    /// The name of a member behind `.` in a list.
    pub(super) fn designator(&mut self, ty: &Type, lexeme: Lexeme<'_>) -> Outcome {
        if !lexeme.is_name() {
            return Err(Refusal::Syntax);
        }
        let Type::Struct(at) = ty else { return Ok(Step::Taken) };
        let fits = |name: &Name| match lexeme.partial {
            true => name.starts_with(lexeme.text),
            false => **name == *lexeme.text,
        };
        if self.structs[*at].all.iter().any(|(name, _)| fits(name)) {
            return Ok(Step::Taken);
        }
        Err(Refusal::Member)
    }
}

/// What the innermost elements of an array are; unknown where these are lists themselves.
fn leaf(ty: &Type) -> Type {
    match ty {
        Type::Array(target) => leaf(&target.ty),
        Type::Struct(_) => Type::Unknown,
        other => other.clone(),
    }
}

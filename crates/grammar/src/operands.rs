//! What becomes of an expression's last operand: indices, members, casts, vector literals.

use super::{
    call,
    declaration::{Declaration, Place},
    express::{Expression, Purpose},
    operand::Operand,
    operate::Operator,
    parser::{Goal, Lexeme, Outcome, Parser, Refusal, Scope, Step},
    types::{self, Scalar, Space, Type},
};
use std::sync::Arc;

impl Parser {
    /// Behind a parenthesis in an expression: statements, a type or an operand.
    pub(super) fn parenthesis(&mut self, lexeme: Lexeme<'_>) -> Outcome {
        if lexeme.text == "{" && self.function.is_some() {
            Arc::make_mut(&mut self.scopes).push(Scope::default());
            self.want_all([
                Goal::Block { function: false },
                Goal::Exactly(")"),
                Goal::StatementsEnd,
            ]);
            return Ok(Step::Taken);
        }
        if self.begins_declaration(lexeme) {
            let declaration = Box::new(Declaration::new(Place::TypeName));
            self.want_all([Goal::Specifiers(declaration), Goal::Exactly(")"), Goal::CastEnd]);
        } else {
            self.want_all([
                Parser::expression(Purpose::Inner),
                Goal::Exactly(")"),
                Goal::ParenthesisEnd,
            ]);
        }
        Ok(Step::Again)
    }

    /// The expression that waits below for an operand, or has one that goes on.
    pub(super) fn below(&mut self) -> Result<&mut Expression, Refusal> {
        match self.goals.last_mut() {
            Some(Goal::Expression(expression)) => Ok(expression),
            _ => Err(Refusal::Syntax),
        }
    }

    /// Put another operand in place of the last one below.
    pub(super) fn replace(&mut self, operand: Operand) -> Result<(), Refusal> {
        let below = self.below()?;
        below.operands.pop();
        below.give(operand)
    }

    pub(super) fn last_below(&mut self) -> Result<Operand, Refusal> {
        self.below()?.operands.last().cloned().ok_or(Refusal::Syntax)
    }

    pub(super) fn index_end(&mut self) -> Outcome {
        let indexed = self.last_below()?;
        let element = match &indexed.ty {
            Type::Pointer(target) | Type::Array(target) => {
                if target.ty == Type::Void {
                    return Err(Refusal::Type);
                }
                let known = self.operand_value.as_ref().is_some_and(|index| index.fixed);
                let array = matches!(indexed.ty, Type::Array(_));
                Operand {
                    anchored: known && indexed.is_known(),
                    fixed: known && array && indexed.fixed,
                    ..Operand::at(target.ty.clone(), target.constant, target.space)
                }
            }
            Type::Vector(scalar, _) => {
                let ty = Type::Scalar(*scalar);
                Operand { ty, fixed: false, part: true, ..indexed }
            }
            _ => Operand::at(Type::Unknown, false, Space::Private),
        };
        let address = matches!(self.below()?.operators.last(), Some(Operator::Address));
        let half = address && element.ty == Type::Scalar(Scalar::Half);
        if !half && !self.holds(&element.ty) {
            return Err(Refusal::Type);
        }
        self.replace(element)?;
        Ok(Step::Again)
    }

    pub(super) fn parenthesis_end(&mut self) -> Outcome {
        let value = self.operand_value.take().ok_or(Refusal::Syntax)?;
        if let Some(Goal::Expression(below)) = self.goals.last()
            && self.is_useless(below, &value)
        {
            return Err(Refusal::Type);
        }
        self.below()?.give(value)?;
        Ok(Step::Again)
    }

    pub(super) fn middle_end(&mut self) -> Outcome {
        let middle = self.operand_value.take().ok_or(Refusal::Syntax)?;
        let below = self.below()?;
        match below.operators.pop() {
            Some(Operator::Question(condition)) => {
                below.operators.push(Operator::Colon(condition, middle));
            }
            _ => return Err(Refusal::Syntax),
        }
        Ok(Step::Again)
    }

    /// Behind `(type)`: a size, a literal of that type, or a cast.
    pub(super) fn cast_end(&mut self, lexeme: Lexeme<'_>) -> Outcome {
        let ty = self.type_value.clone();
        let sized = matches!(self.below()?.operators.last(), Some(Operator::Size));
        if lexeme.text == "{" {
            self.want(Goal::CompoundEnd(ty.clone()));
            let fixed = self.function.is_none();
            self.want(Goal::List { ty, filled: false, count: Some(0), fixed });
            return Ok(Step::Taken);
        }
        if sized {
            if ty == Type::Void || !self.is_complete(&ty) {
                return Err(Refusal::Type);
            }
            self.below()?.operators.pop();
            self.below()?.give(Operand::literal(Type::Scalar(Scalar::Ulong)))?;
            return Ok(Step::Again);
        }
        if matches!(ty, Type::Vector(..)) && lexeme.text == "(" {
            self.operand_value = None;
            self.want(Goal::Lanes { ty, filled: Some(0), fixed: true });
            return Ok(Step::Taken);
        }
        if matches!(ty, Type::Array(_) | Type::Struct(_))
            || ty == Type::Scalar(Scalar::Half) && !self.halves
        {
            return Err(Refusal::Type);
        }
        self.below()?.operators.push(Operator::Cast(ty));
        Ok(Step::Again)
    }

    /// `({ … })`: the value of its last statement.
    pub(super) fn statements_end(&mut self) -> Outcome {
        let ty = std::mem::replace(&mut self.statement_value, Type::Void);
        self.below()?.give(Operand::value(ty))?;
        Ok(Step::Again)
    }

    pub(super) fn reinterpreted_end(&mut self) -> Outcome {
        let from = self.operand_value.take().ok_or(Refusal::Syntax)?;
        let to = self.type_value.clone();
        if to != Type::Unknown && !to.is_arithmetic() {
            return Err(Refusal::Type);
        }
        let ty = call::reinterpret(to, &from.ty).ok_or(Refusal::Type)?;
        self.replace(Operand { fixed: from.fixed, ..Operand::value(ty) })?;
        Ok(Step::Again)
    }

    pub(super) fn compound_end(&mut self, ty: Type) -> Outcome {
        self.below()?.give(Operand::at(ty, false, Space::Private))?;
        Ok(Step::Again)
    }

    /// Components of `(float4)(…)`: as many as the vector has, or one for all.
    pub(super) fn lanes(
        &mut self,
        ty: Type,
        filled: Option<u8>,
        fixed: bool,
        lexeme: Lexeme<'_>,
    ) -> Outcome {
        let (Some(scalar), lanes) = (ty.element(), ty.lanes()) else { return Err(Refusal::Type) };
        let Some(value) = self.operand_value.take() else {
            self.want(Goal::Lanes { ty, filled, fixed });
            self.want_expression(Purpose::Lane);
            return Ok(Step::Again);
        };
        if let Type::Vector(own, _) = value.ty
            && own != scalar
        {
            return Err(Refusal::Type);
        }
        let fixed = fixed && value.fixed;
        let known = filled.filter(|_| value.ty != Type::Unknown);
        let filled = known.map(|filled| filled + value.ty.lanes());
        match lexeme.text {
            "," if filled.is_none_or(|filled| filled < lanes) => {
                self.want(Goal::Lanes { ty, filled, fixed });
                self.want_expression(Purpose::Lane);
            }
            ")" => {
                if filled.is_some_and(|filled| filled != lanes && filled != 1) {
                    return Err(Refusal::Arity);
                }
                self.below()?.give(Operand { fixed, ..Operand::value(ty) })?;
            }
            _ => return Err(Refusal::Syntax),
        }
        Ok(Step::Taken)
    }

    pub(super) fn member(&mut self, arrow: bool, lexeme: Lexeme<'_>) -> Outcome {
        let of = self.last_below()?;
        let (ty, constant, space) = match of.ty.target() {
            Some(target) if arrow => (target.ty.clone(), target.constant, target.space),
            _ => (of.ty.clone(), of.constant, of.space),
        };
        let name = lexeme.text;
        if !lexeme.is_word() {
            return Err(Refusal::Syntax);
        }
        let found = match &ty {
            Type::Unknown => Operand::at(Type::Unknown, false, Space::Private),
            Type::Struct(at) => {
                let members = &self.structs[*at].all;
                if lexeme.partial {
                    let any = members.iter().any(|(known, _)| known.starts_with(name));
                    return if any { Ok(Step::Taken) } else { Err(Refusal::Member) };
                }
                let member = members.iter().find(|(known, _)| **known == *name);
                let (_, ty) = member.ok_or(Refusal::Member)?;
                let ty = ty.housed(constant, space);
                let constant =
                    constant || self.structs[*at].constant.iter().any(|one| **one == *name);
                Operand {
                    ty,
                    place: arrow || of.place,
                    fixed: !arrow && of.fixed,
                    anchored: if arrow { of.is_known() } else { of.anchored },
                    ..Operand::at(Type::Void, constant, space)
                }
            }
            Type::Vector(scalar, lanes) => {
                if lexeme.partial {
                    let any = types::component_begins(*lanes, name);
                    return if any { Ok(Step::Taken) } else { Err(Refusal::Member) };
                }
                let (ty, distinct) =
                    types::component(*scalar, *lanes, name).ok_or(Refusal::Member)?;
                if ty == Type::Scalar(Scalar::Half) && !self.halves {
                    return Err(Refusal::Type);
                }
                let constant = constant || !distinct;
                Operand {
                    ty,
                    place: arrow || of.place,
                    part: true,
                    ..Operand::at(Type::Void, constant, space)
                }
            }
            _ => return Err(Refusal::Member),
        };
        self.replace(found)?;
        Ok(Step::Taken)
    }
}

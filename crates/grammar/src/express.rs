//! Expressions: operators by precedence, with the types of their operands.

use super::{
    builtins::{self, CONSTANTS, is_builtin},
    call::{self, Wanted},
    declaration::{Declaration, Place},
    operand::Operand,
    operate::{
        ASSIGNMENT, Binary, Operator, SHIFTS, TERNARY, apply_binary, apply_unary, binary, choose,
        is_shortened, reachable,
    },
    parser::{Goal, Lexeme, Name, Outcome, Parser, Refusal, Sort, Step, Symbol},
    types::{self, Scalar, Type, assignable},
};
use std::sync::Arc;

/// What an expression is for: what its type must be, and whether it may hold a comma.
#[derive(Clone, Debug, PartialEq, Hash)]
pub(super) enum Purpose {
    Statement,
    Condition,
    /// Of a `switch`.
    Choice,
    Case,
    /// Between parentheses.
    Inner,
    /// Between `?` and `:`.
    Middle,
    Index,
    /// Extent of an array, width of a bit field, value of an enumerator.
    Size,
    Argument(Wanted),
    /// Component of a vector literal.
    Lane,
    /// For something of this type.
    Value(Type),
    /// The same, known to the compiler: outside of functions.
    Fixed(Type),
}

/// An expression so far.
#[derive(Clone, Debug, Hash)]
pub(super) struct Expression {
    purpose: Purpose,
    pub(super) operands: Vec<Operand>,
    pub(super) operators: Vec<Operator>,
    /// Whether an operand comes next.
    wants: bool,
    /// Whether there was a comma, and something before it that the compiler does not know.
    listed: bool,
    unknown: bool,
    /// Whether the program is one of OpenCL C 2.0.
    new: bool,
    /// Whether it is one of OpenCL C 1.1, that takes `2.0` for a float.
    old: bool,
}

impl Expression {
    pub(super) fn new(purpose: Purpose) -> Expression {
        Expression {
            purpose,
            operands: Vec::new(),
            operators: Vec::new(),
            wants: true,
            listed: false,
            unknown: false,
            new: false,
            old: false,
        }
    }

    pub(super) fn give(&mut self, operand: Operand) -> Result<(), Refusal> {
        if !self.takes(&operand) {
            return Err(Refusal::Type);
        }
        self.operands.push(operand);
        self.wants = false;
        Ok(())
    }

    /// Whether a lexeme neither begins an operand nor goes on or ends behind one.
    pub(super) fn refuses(&self, sort: Sort, text: &str) -> bool {
        match (self.wants, sort) {
            (true, Sort::Sign) => {
                !matches!(text, "+" | "-" | "!" | "~" | "*" | "&" | "++" | "--" | "(" | ".")
            }
            (false, Sort::Number | Sort::Letter) => true,
            // Only declarations have attributes behind an expression.
            (false, Sort::Word) => text != "__attribute__",
            _ => false,
        }
    }

    /// Whether what may become of an operand goes together with the operators that bind it first.
    fn takes(&self, operand: &Operand) -> bool {
        reachable(operand, 2).into_iter().any(|one| self.fits(one))
    }

    fn fits(&self, mut held: Operand) -> bool {
        let mut below = self.operands.len();
        for operator in self.operators.iter().rev() {
            match operator {
                Operator::Binary(kind, level) if *level >= SHIFTS => {
                    below -= 1;
                    match apply_binary(*kind, &self.operands[below], &held, self.new) {
                        Some(result) => held = result,
                        None => return false,
                    }
                }
                // Nothing can be made of another value to be an event.
                Operator::Binary(Binary::Assign, _)
                    if matches!(self.operands[below - 1].ty, Type::Opaque(_)) =>
                {
                    let place = &self.operands[below - 1];
                    return apply_binary(Binary::Assign, place, &held, self.new).is_some();
                }
                Operator::Binary(..) | Operator::Question(_) | Operator::Colon(..) => {
                    return held.is_value();
                }
                unary => match apply_unary(unary, &held) {
                    Some(result) => held = result,
                    None => return false,
                },
            }
        }
        match &self.purpose {
            Purpose::Statement | Purpose::Inner | Purpose::Middle => {}
            _ if !held.is_value() => return false,
            Purpose::Value(Type::Opaque(_) | Type::Sampler) => return self.meets(&held),
            _ => {}
        }
        match &self.purpose {
            Purpose::Value(Type::Pointer(_) | Type::Struct(_))
            | Purpose::Fixed(Type::Pointer(_) | Type::Struct(_))
            | Purpose::Argument(Wanted::Value(Type::Pointer(_) | Type::Struct(_)))
            | Purpose::Argument(Wanted::Pointer | Wanted::Image { .. })
            | Purpose::Index
            | Purpose::Size => self.operators.is_empty() || self.meets(&held),
            _ => true,
        }
    }

    fn meets(&self, operand: &Operand) -> bool {
        let ty = &operand.ty;
        match &self.purpose {
            _ if ty.is_code() => false,
            Purpose::Statement | Purpose::Inner | Purpose::Middle => true,
            Purpose::Argument(wanted) => wanted.takes(operand),
            Purpose::Condition => ty.is_condition(),
            Purpose::Index | Purpose::Choice => {
                *ty == Type::Unknown || matches!(ty, Type::Scalar(s) if !s.is_float())
            }
            Purpose::Size | Purpose::Case => {
                operand.fixed
                    && (*ty == Type::Unknown || matches!(ty, Type::Scalar(s) if !s.is_float()))
            }
            Purpose::Lane => *ty == Type::Unknown || ty.is_arithmetic(),
            Purpose::Fixed(_) if !operand.is_known() => false,
            Purpose::Value(Type::Sampler) if *ty != Type::Sampler && !operand.fixed => false,
            Purpose::Value(wanted) | Purpose::Fixed(wanted) => match wanted {
                Type::Array(_) => true,
                Type::Unknown => !operand.is_handle(),
                _ => assignable(wanted, ty, operand.zero),
            },
        }
    }

    /// Lexemes that its last operand still needs.
    pub(super) fn distance(&self) -> usize {
        let callee = |operand: &Operand| operand.ty.is_code();
        match self.operands.last() {
            _ if self.wants => 1,
            Some(last) if callee(last) => (2 + 2 * call::least(&last.ty)).saturating_sub(1).max(2),
            _ => 0,
        }
    }

    /// Apply the operators that bind at least as tightly as `level`.
    fn reduce(&mut self, level: u8) -> Result<(), Refusal> {
        while let Some(operator) = self.operators.last() {
            let binds = match operator {
                // Assignments and `?:` group from the right.
                Operator::Binary(_, ASSIGNMENT) => level < ASSIGNMENT,
                Operator::Binary(_, own) => *own >= level,
                Operator::Colon(..) => level <= ASSIGNMENT,
                Operator::Question(_) => false,
                _ => true,
            };
            if !binds {
                return Ok(());
            }
            let Some(operator) = self.operators.pop() else { return Ok(()) };
            let Some(right) = self.operands.pop() else { return Err(Refusal::Syntax) };
            let result = match &operator {
                Operator::Binary(kind, _) => {
                    let Some(left) = self.operands.pop() else { return Err(Refusal::Syntax) };
                    if matches!(kind, Binary::Assign | Binary::Update(_)) && !left.is_assignable() {
                        return Err(Refusal::NotAssignable);
                    }
                    let result = apply_binary(*kind, &left, &right, self.new);
                    let vector = |one: &Operand| matches!(one.ty, Type::Vector(Scalar::Float, _));
                    self.old |= is_shortened(&left) && vector(&right)
                        || is_shortened(&right) && vector(&left) && *kind != Binary::Assign;
                    result
                }
                Operator::Colon(condition, middle) => choose(condition, middle, &right),
                unary => apply_unary(unary, &right),
            };
            self.operands.push(result.ok_or(Refusal::Type)?);
        }
        Ok(())
    }
}

impl Parser {
    pub(super) fn express(&mut self, mut e: Box<Expression>, lexeme: Lexeme<'_>) -> Outcome {
        e.new = self.new;
        if e.wants {
            self.operand(e, lexeme)
        } else {
            self.operator(&mut e, lexeme).map(|step| {
                self.old |= e.old;
                if let Some(goal) = step.1 {
                    self.want(Goal::Expression(e));
                    self.goals.extend(goal);
                } else if step.0 == Step::Taken {
                    self.want(Goal::Expression(e));
                }
                step.0
            })
        }
    }

    fn operand(&mut self, mut e: Box<Expression>, lexeme: Lexeme<'_>) -> Outcome {
        let text = lexeme.text;
        let prefix = match text {
            "+" | "-" => Some(Operator::Sign),
            "!" => Some(Operator::Not),
            "~" => Some(Operator::Invert),
            "*" => Some(Operator::Follow),
            "&" => Some(Operator::Address),
            "++" | "--" => Some(Operator::Step),
            "sizeof" => Some(Operator::Size),
            _ => None,
        };
        if let Some(prefix) = prefix {
            e.operators.push(prefix);
            self.want(Goal::Expression(e));
            return Ok(Step::Taken);
        }
        if text == "(" {
            self.want(Goal::Expression(e));
            self.want(Goal::Parenthesis);
            return Ok(Step::Taken);
        }
        if lexeme.partial {
            let fits = |operand: Operand| e.takes(&operand);
            return self.spelled(lexeme, &fits).map(|()| Step::Taken);
        }
        let given = self.literal_or_name(lexeme)?;
        if e.purpose == Purpose::Case {
            let alone = e.operators.is_empty() && lexeme.sort == Sort::Number;
            self.case_value = types::natural(lexeme.text).filter(|_| alone);
        }
        if self.is_useless(&e, &given) {
            return Err(Refusal::Type);
        }
        if builtins::is_new(text) && matches!(given.ty, Type::Builtin(_)) {
            if self.old {
                return Err(Refusal::Context);
            }
            self.new = true;
        }
        e.give(given)?;
        self.want(Goal::Expression(e));
        Ok(Step::Taken)
    }

    /// Whether it points to a struct that is not complete.
    fn points_nowhere(&self, operand: &Operand) -> bool {
        operand.ty.target().is_some_and(|target| !self.is_complete(&target.ty))
    }

    /// Whether an operator that waits can do nothing with an operand, by what the program declares.
    pub(super) fn is_useless(&self, e: &Expression, operand: &Operand) -> bool {
        let half = Some(&Type::Scalar(Scalar::Half));
        match e.operators.as_slice() {
            [] => match &e.purpose {
                // Nothing can be made an image.
                Purpose::Argument(wanted @ Wanted::Image { .. }) => !wanted.takes(operand),
                _ => e.listed && operand.is_handle(),
            },
            [.., Operator::Address, Operator::Follow] => false,
            [.., Operator::Follow] => {
                let held = operand.ty.target().map(|target| &target.ty);
                self.points_nowhere(operand) || !self.halves && held == half
            }
            [
                ..,
                Operator::Step
                | Operator::Binary(Binary::Add | Binary::Subtract | Binary::Update(_), _),
            ] => self.points_nowhere(operand),
            _ => false,
        }
    }

    /// Whether what is being spelled can become an operand that fits.
    fn spelled(&self, lexeme: Lexeme<'_>, fits: &dyn Fn(Operand) -> bool) -> Result<(), Refusal> {
        let text = lexeme.text;
        let found = match lexeme.sort {
            Sort::Text => fits(Operand::string()),
            Sort::Letter => fits(Operand::literal(Type::Scalar(Scalar::Int))),
            Sort::Number | Sort::Sign => {
                let zero = text == "0";
                types::numbers_beginning(text)
                    .into_iter()
                    .filter(|scalar| self.halves || *scalar != Scalar::Half)
                    .any(|scalar| fits(Operand { zero, ..Operand::literal(Type::Scalar(scalar)) }))
            }
            Sort::Word => {
                let known = |(name, symbol): &(Name, Symbol)| {
                    name.starts_with(text) && Operand::named(symbol).is_some_and(fits)
                };
                let builtin =
                    |name: &Arc<str>| fits(Operand::value(Type::Builtin(Arc::clone(name))));
                self.visible().any(known)
                    || CONSTANTS.iter().any(|name| {
                        name.starts_with(text) && fits(Operand::literal(builtins::constant(name)))
                    })
                    || call::beginning(text).iter().any(builtin)
            }
            Sort::Directive => false,
        };
        if found { Ok(()) } else { Err(Refusal::Undeclared) }
    }

    fn literal_or_name(&self, lexeme: Lexeme<'_>) -> Result<Operand, Refusal> {
        let text = lexeme.text;
        if Parser::is_literal(lexeme) {
            let scalar = match lexeme.sort {
                Sort::Text if super::is_complete(text) => {
                    return Ok(Operand::string());
                }
                Sort::Letter if text.len() > 2 && text.ends_with('\'') => Scalar::Int,
                Sort::Number => types::number(text).ok_or(Refusal::Syntax)?,
                _ => return Err(Refusal::Syntax),
            };
            if scalar == Scalar::Half && !self.halves {
                return Err(Refusal::Type);
            }
            return Ok(Operand { zero: text == "0", ..Operand::literal(Type::Scalar(scalar)) });
        }
        if !lexeme.is_name() {
            return Err(Refusal::Syntax);
        }
        match self.lookup(text) {
            Some(symbol) => Operand::named(symbol).ok_or(Refusal::Syntax),
            None if CONSTANTS.contains(&text) => {
                // `NAN` is a call of `as_float`.
                let (zero, fixed) = (text == "NULL", text != "NAN");
                Ok(Operand { zero, fixed, ..Operand::literal(builtins::constant(text)) })
            }
            None if is_builtin(text) && call::is_whole(text) => {
                Ok(Operand::value(Type::Builtin(text.into())))
            }
            None => Err(Refusal::Undeclared),
        }
    }

    /// What follows an operand: the step, and goals to put on top of the expression.
    fn operator(
        &mut self,
        e: &mut Expression,
        lexeme: Lexeme<'_>,
    ) -> Result<(Step, Option<Vec<Goal>>), Refusal> {
        let last = e.operands.last().cloned().ok_or(Refusal::Syntax)?;
        let on_top = |goals: Vec<Goal>| Ok((Step::Taken, Some(goals)));
        let callee = last.ty.is_code();
        if callee && lexeme.text != "(" {
            return Err(Refusal::Type);
        }
        if lexeme.sort == Sort::Text && last.text {
            // Neighboring strings are one.
            return Ok((Step::Taken, None));
        }
        match lexeme.text {
            "(" | "[" | "." | "->" => {
                if lexeme.text == "(" {
                    self.operand_value = None;
                }
                return on_top(postfix(&last.ty, lexeme.text)?);
            }
            "++" | "--" => {
                if !last.is_assignable() {
                    return Err(Refusal::NotAssignable);
                }
                if self.points_nowhere(&last) {
                    return Err(Refusal::Type);
                }
                let stepped = apply_unary(&Operator::Step, &last).ok_or(Refusal::Type)?;
                e.operands.pop();
                e.operands.push(Operand { place: false, ..stepped });
                return Ok((Step::Taken, None));
            }
            "?" => {
                e.reduce(TERNARY + 1)?;
                let condition = e.operands.pop().ok_or(Refusal::Syntax)?;
                let real = condition.ty.element().is_some_and(Scalar::is_float);
                if real || !condition.ty.is_condition() && !condition.ty.is_integer() {
                    return Err(Refusal::Type);
                }
                e.operators.push(Operator::Question(condition));
                e.wants = true;
                return on_top(vec![
                    Goal::MiddleEnd,
                    Goal::Exactly(":"),
                    Parser::expression(Purpose::Middle),
                ]);
            }
            "," if matches!(
                e.purpose,
                Purpose::Statement | Purpose::Inner | Purpose::Condition
            ) =>
            {
                e.reduce(0)?;
                let left = e.operands.pop().ok_or(Refusal::Syntax)?;
                if left.is_handle() {
                    return Err(Refusal::Type);
                }
                e.wants = true;
                e.listed = true;
                e.unknown |= !left.is_known();
                return Ok((Step::Taken, None));
            }
            _ => {}
        }
        if let Some((kind, level)) = binary(lexeme.text) {
            self.infix(e, kind, level)?;
            return Ok((Step::Taken, None));
        }
        // Nothing that goes on.
        self.complete(e)?;
        Ok((Step::Again, None))
    }

    /// An operator between two operands.
    fn infix(&self, e: &mut Expression, kind: Binary, level: u8) -> Result<(), Refusal> {
        e.reduce(if level == ASSIGNMENT { ASSIGNMENT + 1 } else { level })?;
        let left = e.operands.last().ok_or(Refusal::Syntax)?;
        // What stands left of `=` is no `?:`, whose last part ends before it.
        let chosen = matches!(e.operators.last(), Some(Operator::Colon(..)));
        if level == ASSIGNMENT && (chosen || !left.is_assignable()) {
            return Err(Refusal::NotAssignable);
        }
        if self.points_nowhere(left)
            && matches!(kind, Binary::Add | Binary::Subtract | Binary::Update(_))
        {
            return Err(Refusal::Type);
        }
        if matches!(kind, Binary::Remainder | Binary::Shift | Binary::Bits)
            && !(left.ty == Type::Unknown || left.ty.is_integer())
        {
            return Err(Refusal::Type);
        }
        if matches!(left.ty, Type::Struct(_) | Type::Void) && kind != Binary::Assign {
            return Err(Refusal::Type);
        }
        if matches!(left.ty, Type::Struct(at) if self.structs[at].is_frozen()) {
            return Err(Refusal::NotAssignable);
        }
        e.operators.push(Operator::Binary(kind, level));
        e.wants = true;
        Ok(())
    }

    /// The end of an expression.
    fn complete(&mut self, e: &mut Expression) -> Result<(), Refusal> {
        e.reduce(0)?;
        let mut whole = e.operands.pop().ok_or(Refusal::Syntax)?;
        if e.listed {
            // No longer the literal 0, nor a place.
            let fixed = whole.is_known() && !e.unknown;
            let text = whole.text;
            whole = Operand { fixed, text, ..Operand::value(whole.ty.decayed()) };
        }
        if !e.operators.is_empty() || !e.operands.is_empty() {
            return Err(Refusal::Syntax);
        }
        if !e.meets(&whole) {
            return Err(Refusal::Type);
        }
        if e.purpose == Purpose::Statement {
            self.statement_value = whole.ty.clone();
        }
        self.operand_value = Some(whole);
        Ok(())
    }
}

/// Goals behind an operand that is called, indexed or asked for a member.
fn postfix(ty: &Type, sign: &str) -> Result<Vec<Goal>, Refusal> {
    match (sign, ty) {
        ("(", Type::Builtin(name)) if **name == *call::ASTYPE => Ok(vec![
            Goal::ReinterpretedEnd,
            Goal::Exactly(")"),
            Goal::Specifiers(Box::new(Declaration::new(Place::TypeName))),
            Goal::Exactly(","),
            Parser::expression(Purpose::Lane),
        ]),
        ("(", ty) if ty.is_code() => {
            Ok(vec![Goal::Call { callee: ty.clone(), arguments: Vec::new() }])
        }
        ("[", Type::Unknown | Type::Pointer(_) | Type::Array(_) | Type::Vector(..)) => {
            Ok(vec![Goal::IndexEnd, Goal::Exactly("]"), Parser::expression(Purpose::Index)])
        }
        (".", Type::Unknown | Type::Struct(_) | Type::Vector(..)) => {
            Ok(vec![Goal::Member { arrow: false }])
        }
        ("->", Type::Unknown) => Ok(vec![Goal::Member { arrow: true }]),
        ("->", ty) => match ty.target().map(|target| &target.ty) {
            Some(Type::Unknown | Type::Struct(_) | Type::Vector(..)) => {
                Ok(vec![Goal::Member { arrow: true }])
            }
            _ => Err(Refusal::Member),
        },
        (".", _) => Err(Refusal::Member),
        _ => Err(Refusal::Type),
    }
}

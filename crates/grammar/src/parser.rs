//! An incremental parser of OpenCL C: takes one lexeme after the other and refuses the first that
//! cannot go on to a program that compiles.
//!
//! It is a stack of [`Goal`]s. The topmost takes a lexeme, passes it on to the goal below (it is
//! done), puts goals on top of itself, or refuses.

use super::{
    attribute::Attribute,
    declaration::{Declaration, Place},
    express::{Expression, Purpose},
    operand::Operand,
    parameters::Parameter,
    types::{Space, Type},
};
use std::sync::Arc;

pub(super) type Name = Arc<str>;

/// Why a lexeme is refused: what a compiler would say, in short.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Refusal {
    /// Something else is expected here.
    Syntax,
    /// A name that nothing declares.
    Undeclared,
    /// A name that is declared already.
    Redeclared,
    /// Too few or too many arguments.
    Arity,
    /// No such member or component.
    Member,
    /// Assignment to what is constant or no place.
    NotAssignable,
    /// Operand, argument or value of the wrong type.
    Type,
    /// A statement outside of what it belongs to.
    Context,
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(match self {
            Refusal::Syntax => "something else is expected here",
            Refusal::Undeclared => "nothing declares this name",
            Refusal::Redeclared => "declared already",
            Refusal::Arity => "too few or too many arguments or components",
            Refusal::Member => "no such member or component",
            Refusal::NotAssignable => "assignment to what is constant or no place",
            Refusal::Type => "the types do not go together",
            Refusal::Context => "not allowed in this place",
        })
    }
}

pub(super) type Outcome = std::result::Result<Step, Refusal>;

/// What became of a lexeme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// The goal took it.
    Taken,
    /// It is for the goal that is on top now.
    Again,
}

/// What a lexeme is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sort {
    Word,
    Number,
    Text,
    Letter,
    Sign,
    Directive,
}

/// A lexeme, or the beginning of one that is being spelled.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lexeme<'a> {
    pub(super) text: &'a str,
    pub(super) sort: Sort,
    /// More characters may follow.
    pub(super) partial: bool,
}

impl<'a> Lexeme<'a> {
    pub(super) fn new(text: &'a str, partial: bool) -> Lexeme<'a> {
        let bytes = text.as_bytes();
        let sort = match bytes.first() {
            Some(b'#') => Sort::Directive,
            Some(b'"') => Sort::Text,
            Some(b'\'') => Sort::Letter,
            Some(byte) if byte.is_ascii_digit() => Sort::Number,
            Some(b'.') if bytes.get(1).is_some_and(u8::is_ascii_digit) => Sort::Number,
            Some(byte) if byte.is_ascii_alphabetic() || *byte == b'_' || *byte == b'$' => {
                Sort::Word
            }
            _ => Sort::Sign,
        };
        Lexeme { text, sort, partial }
    }

    pub(super) fn is_word(&self) -> bool {
        self.sort == Sort::Word
    }

    /// Whether it is a word that names nothing by itself: neither keyword nor builtin type.
    pub(super) fn is_name(&self) -> bool {
        self.is_word()
            && (self.partial
                || crate::words::KEYWORDS.binary_search(&self.text).is_err()
                    && Type::named(self.text).is_none()
                    && !matches!(self.text, "signed" | "unsigned" | "_Complex" | "_Imaginary"))
    }
}

/// What the parser waits for.
#[derive(Clone, Debug, Hash)]
pub(super) enum Goal {
    /// This lexeme.
    Exactly(&'static str),
    /// Declarations at file scope.
    File,
    /// Statements up to a brace.
    Block {
        function: bool,
    },
    /// One statement.
    Statement,
    /// What may follow the first branch of an `if`.
    Else,
    /// The three parts of a `for`.
    ForFirst,
    ForSecond,
    ForThird,
    /// Marks, taken away when reached.
    LoopEnd,
    /// `default`: it has that label.
    SwitchEnd {
        default: bool,
        /// Values of its cases, as far as they are plain numbers.
        cases: Vec<u64>,
    },
    /// Behind the value of a `case`.
    CaseEnd,
    ScopeEnd,
    FunctionEnd,
    /// The name after `goto`.
    Label,
    /// The name of a member of this, in a list.
    Designator(Type),
    /// What an attribute was written before: a loop or a declaration.
    Attributed,
    /// An attribute.
    Attribute(Attribute),
    Specifiers(Box<Declaration>),
    Declarator(Box<Declaration>),
    /// Behind the parenthesis of `(*name)`.
    Inner(Box<Declaration>),
    Named(Box<Declaration>),
    /// `]` or a size.
    Size,
    Parameters(Box<Declaration>, Vec<Parameter>),
    AfterParameters(Box<Declaration>, Vec<Parameter>),
    /// After `struct` or `union`; the tag once it is there.
    Tag {
        union: bool,
        name: Option<Name>,
    },
    Members(usize),
    EnumTag(Option<Name>),
    /// `name`: one that may have a value; `any`: there is one at least.
    Enumerators {
        name: Option<Name>,
        any: bool,
    },
    /// A value for something of this type: a list in braces, or an expression. `fixed`: the compiler must know it.
    Initializer {
        ty: Type,
        fixed: bool,
    },
    /// Between the braces of a list.
    /// `count`: so many lanes or members were given; `None` where that is not known.
    List {
        ty: Type,
        filled: bool,
        count: Option<u8>,
        fixed: bool,
    },
    Expression(Box<Expression>),
    /// Behind an opening parenthesis where an operand is wanted.
    Parenthesis,
    /// A type's name is complete: make a cast of it, or a size.
    CastEnd,
    /// An expression in brackets, parentheses or between `?` and `:` is complete.
    IndexEnd,
    ParenthesisEnd,
    MiddleEnd,
    CompoundEnd(Type),
    /// `({ … })` is complete.
    StatementsEnd,
    /// `__builtin_astype(value, type` is complete.
    ReinterpretedEnd,
    /// Components of a vector literal so far.
    Lanes {
        ty: Type,
        /// `None` where a component's type is not known.
        filled: Option<u8>,
        /// Whether all of them are known to the compiler.
        fixed: bool,
    },
    /// A member's name.
    Member {
        arrow: bool,
    },
    /// Arguments so far.
    Call {
        callee: Type,
        arguments: Vec<Operand>,
    },
}

/// What a name stands for.
#[derive(Clone, Debug)]
pub(super) enum Symbol {
    Variable { ty: Type, constant: bool, space: Space, fixed: bool },
    Function { ty: Type, defined: bool },
    Typedef(Type),
    Enumerator,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Scope {
    pub(super) symbols: Vec<(Name, Symbol)>,
    pub(super) tags: Vec<(Name, Type)>,
}

/// A struct or union.
#[derive(Clone, Debug, Default)]
pub(super) struct Members {
    pub(super) all: Vec<(Name, Type)>,
    /// Names of those that may not be assigned to.
    pub(super) constant: Vec<Name>,
    /// Whether its closing brace was read.
    pub(super) complete: bool,
    /// Whether it is a union.
    pub(super) union: bool,
}

impl Members {
    /// Whether no whole value may be assigned.
    pub(super) fn is_frozen(&self) -> bool {
        !self.constant.is_empty()
    }
}

/// The parser.
#[derive(Clone, Debug)]
pub(super) struct Parser {
    pub(super) goals: Vec<Goal>,
    /// Shared by all states until one declares something.
    pub(super) scopes: Arc<Vec<Scope>>,
    pub(super) structs: Arc<Vec<Members>>,
    pub(super) held: Option<Held>,
    /// Result of the function being defined, and whether it is a kernel.
    pub(super) function: Option<(Type, bool)>,
    /// Kernels defined so far.
    pub(super) kernels: usize,
    pub(super) labels: Vec<Name>,
    pub(super) jumps: Vec<Name>,
    /// Whether functions of one name may be several.
    pub(super) overloadable: bool,
    /// Attributes of what is being declared.
    pub(super) attributes: Vec<&'static str>,
    /// Whether an attribute was read that only kernels may have.
    pub(super) kernel_only: bool,
    /// Lanes that `ext_vector_type` asked for.
    pub(super) lanes: Option<u8>,
    /// Whether only a loop may follow: `#pragma unroll`.
    pub(super) loop_next: bool,
    /// Whether `half` is a type of values: `#pragma OPENCL EXTENSION cl_khr_fp16 : enable`.
    pub(super) halves: bool,
    /// Whether something was read that only OpenCL C 2.0 has, or only 1.1.
    pub(super) new: bool,
    pub(super) old: bool,
    /// Type of the last statement, where that is an expression.
    pub(super) statement_value: Type,
    /// What the last completed type name, expression and parameter came to.
    pub(super) type_value: Type,
    pub(super) operand_value: Option<Operand>,
    /// The value of a `case` that is a number and nothing else.
    pub(super) case_value: Option<u64>,
    pub(super) parameter_value: Option<Parameter>,
}

/// What stays as it is: the blocks that are open, the declaration around them, and what names mean.
#[derive(Clone, Debug)]
pub(super) struct Held {
    pub(super) blocks: usize,
    /// Open scopes, and symbols of the innermost.
    pub(super) scopes: usize,
    pub(super) symbols: usize,
    pub(super) names: Arc<[Name]>,
    /// Whether whole statements stand here.
    pub(super) whole: bool,
    /// Goals that stay open: those around an expression.
    pub(super) goals: usize,
}

impl Parser {
    pub(super) fn new() -> Parser {
        Parser {
            goals: vec![Goal::File],
            scopes: Arc::new(vec![Scope::default()]),
            structs: Arc::default(),
            held: None,
            function: None,
            kernels: 0,
            labels: Vec::new(),
            jumps: Vec::new(),
            overloadable: false,
            attributes: Vec::new(),
            kernel_only: false,
            lanes: None,
            loop_next: false,
            halves: false,
            new: false,
            old: false,
            statement_value: Type::Void,
            type_value: Type::Unknown,
            operand_value: None,
            case_value: None,
            parameter_value: None,
        }
    }

    /// Whether a lexeme is refused at a glance, by what is open last alone: most are, and finding it out so needs no
    /// copy of the parser.
    pub(super) fn refuses(&self, lexeme: Lexeme<'_>) -> bool {
        match (self.goals.last(), lexeme.sort) {
            (_, Sort::Directive) => false,
            (Some(Goal::Expression(expression)), sort) => expression.refuses(sort, lexeme.text),
            (Some(Goal::Named(_)), Sort::Number | Sort::Letter | Sort::Text) => true,
            (Some(Goal::Named(_)), Sort::Word) => lexeme.text != "__attribute__",
            _ => false,
        }
    }

    /// Take a lexeme. After a refusal the parser is of no more use.
    pub(super) fn push(&mut self, lexeme: Lexeme<'_>) -> std::result::Result<(), Refusal> {
        if lexeme.sort == Sort::Directive {
            return self.directive(lexeme);
        }
        // Every round takes a goal away or puts one there that takes the lexeme: it ends.
        for _ in 0..10_000 {
            let Some(goal) = self.goals.pop() else { return Err(Refusal::Syntax) };
            if self.handle(goal, lexeme)? == Step::Taken {
                if matches!(lexeme.text, ";" | "," | "{" | "}") && !self.in_attribute() {
                    self.attributes.clear();
                }
                if lexeme.partial {
                    return Ok(());
                }
                self.settle()?;
                return self.held.as_ref().map_or(Ok(()), |held| self.keeps(held));
            }
        }
        Err(Refusal::Syntax)
    }

    fn keeps(&self, held: &Held) -> std::result::Result<(), Refusal> {
        let is_left = self.goals.len() < held.goals || self.blocks() < held.blocks;
        if is_left || self.at_file_scope() {
            return Err(Refusal::Syntax);
        }
        let symbols = self.scopes.get(held.scopes - 1).map_or(&[][..], |scope| &scope.symbols);
        let mut new = symbols.iter().skip(held.symbols);
        match new.any(|(name, _)| held.names.contains(name)) {
            true => Err(Refusal::Redeclared),
            false => Ok(()),
        }
    }

    /// How many goals a fill may not close. `next` is the first lexeme behind the hole: where it continues an expression or a
    /// declaration, the fill has to be a part of that. In `if ([HOLE])` it is a condition, without `;` or `)`.
    pub(super) fn kept_open(&self, next: &str) -> usize {
        let is_sign = Lexeme::new(next, false).sort == Sort::Sign;
        let begins = matches!(next, "" | "{" | "}" | "(" | "++" | "--" | "~" | "!");
        let open = self.goals.len();
        if let Some(head) = self.loop_head().filter(|_| next == ")") {
            return head + 1;
        }
        match self.goals.last() {
            _ if !is_sign || begins => 0,
            None
            | Some(
                Goal::File
                | Goal::Block { .. }
                | Goal::Else
                | Goal::LoopEnd
                | Goal::SwitchEnd { .. }
                | Goal::ScopeEnd
                | Goal::FunctionEnd,
            ) => 0,
            Some(Goal::Statement) if next != ";" => 0,
            Some(
                Goal::Expression(_)
                | Goal::Initializer { .. }
                | Goal::Member { .. }
                | Goal::Designator(_)
                | Goal::Label
                | Goal::Tag { .. }
                | Goal::EnumTag(_),
            ) => open - 1,
            Some(_) => open,
        }
    }

    /// Where the last part of the `for` stands whose parts are being read.
    fn loop_head(&self) -> Option<usize> {
        let in_head = |goal: &Goal| {
            matches!(
                goal,
                Goal::ForFirst
                    | Goal::ForSecond
                    | Goal::ForThird
                    | Goal::Exactly(";")
                    | Goal::Expression(_)
                    | Goal::Initializer { .. }
                    | Goal::Named(_)
                    | Goal::Declarator(_)
                    | Goal::Specifiers(_)
            )
        };
        let head = self.goals.iter().rposition(|goal| !in_head(goal)).map_or(0, |at| at + 1);
        matches!(self.goals.get(head), Some(Goal::ForThird)).then_some(head)
    }

    /// How many blocks are open.
    pub(super) fn blocks(&self) -> usize {
        self.goals.iter().filter(|goal| matches!(goal, Goal::Block { .. })).count()
    }

    fn in_attribute(&self) -> bool {
        matches!(self.goals.last(), Some(Goal::Attribute(_)))
    }

    /// Work off what is complete whatever comes next, so that what is wrong with it is found now.
    fn settle(&mut self) -> std::result::Result<(), Refusal> {
        loop {
            match self.goals.pop() {
                Some(Goal::IndexEnd) => self.index_end()?,
                Some(Goal::ParenthesisEnd) => self.parenthesis_end()?,
                Some(Goal::CompoundEnd(ty)) => self.compound_end(ty)?,
                Some(Goal::StatementsEnd) => self.statements_end()?,
                Some(Goal::ReinterpretedEnd) => self.reinterpreted_end()?,
                Some(other) => {
                    self.goals.push(other);
                    return Ok(());
                }
                None => return Ok(()),
            };
        }
    }

    /// Whether a program may end here: at file scope, with a kernel.
    pub(super) fn may_end(&self) -> bool {
        self.at_file_scope() && self.kernels > 0
    }

    /// Whether nothing is open: what follows a function's last brace is the file's again.
    pub(super) fn at_file_scope(&self) -> bool {
        matches!(self.goals[..], [Goal::File] | [Goal::File, Goal::FunctionEnd])
    }

    /// What is open last; marks are skipped, since they take nothing.
    pub(super) fn waiting(&self) -> Option<&Goal> {
        self.goals.iter().rev().find(|goal| {
            !matches!(
                goal,
                Goal::Else
                    | Goal::LoopEnd
                    | Goal::SwitchEnd { .. }
                    | Goal::ScopeEnd
                    | Goal::FunctionEnd
            )
        })
    }

    /// A line of its own: between statements, or before one.
    fn directive(&mut self, lexeme: Lexeme<'_>) -> std::result::Result<(), Refusal> {
        let waiting = self.waiting();
        let file = matches!(waiting, Some(Goal::File));
        if !file && !matches!(waiting, Some(Goal::Block { .. } | Goal::Statement)) {
            return Err(Refusal::Syntax);
        }
        let words: Vec<&str> = lexeme.text.split_whitespace().collect();
        if lexeme.partial {
            let begins = directive_begins(lexeme.text, file);
            return if begins { Ok(()) } else { Err(Refusal::Syntax) };
        }
        let fits = match words[..] {
            ["#pragma", "unroll" | "nounroll"] => !file,
            ["#pragma", "unroll", count] => !file && count.parse::<u16>().is_ok_and(|n| n > 0),
            ["#pragma", "OPENCL", "FP_CONTRACT", "ON" | "OFF" | "DEFAULT"] => file,
            ["#pragma", "OPENCL", "EXTENSION", name, ":", "enable" | "disable"] => {
                file && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
            }
            _ => false,
        };
        self.loop_next |= !file;
        if let ["#pragma", "OPENCL", "EXTENSION", "cl_khr_fp16", ":", state] = words[..] {
            self.halves = state == "enable";
        }
        if fits { Ok(()) } else { Err(Refusal::Syntax) }
    }

    pub(super) fn want(&mut self, goal: Goal) {
        self.goals.push(goal);
    }

    /// Wait for goals, the first of them first.
    pub(super) fn want_all<const N: usize>(&mut self, goals: [Goal; N]) {
        self.goals.extend(goals.into_iter().rev());
    }

    pub(super) fn want_expression(&mut self, purpose: Purpose) {
        self.want(Goal::Expression(Box::new(Expression::new(purpose))));
    }

    pub(super) fn expression(purpose: Purpose) -> Goal {
        Goal::Expression(Box::new(Expression::new(purpose)))
    }

    fn handle(&mut self, goal: Goal, lexeme: Lexeme<'_>) -> Outcome {
        match goal {
            Goal::Exactly(text) => {
                let same = lexeme.text == text || lexeme.partial && text.starts_with(lexeme.text);
                if same { Ok(Step::Taken) } else { Err(Refusal::Syntax) }
            }
            Goal::File => {
                self.want(Goal::File);
                if lexeme.text != ";" {
                    self.want(Goal::Specifiers(Box::new(Declaration::new(Place::File))));
                    return Ok(Step::Again);
                }
                Ok(Step::Taken)
            }
            Goal::Block { function } => self.in_block(function, lexeme),
            Goal::Statement => self.statement(lexeme, false),
            Goal::Else => {
                if lexeme.text == "else" {
                    self.want(Goal::Statement);
                    return Ok(Step::Taken);
                }
                Ok(Step::Again)
            }
            Goal::ForFirst => self.for_first(lexeme),
            Goal::ForSecond => {
                if lexeme.text == ";" {
                    return Ok(Step::Taken);
                }
                self.want_all([Parser::expression(Purpose::Condition), Goal::Exactly(";")]);
                Ok(Step::Again)
            }
            Goal::ForThird => {
                if lexeme.text == ")" {
                    return Ok(Step::Taken);
                }
                self.want_all([Parser::expression(Purpose::Statement), Goal::Exactly(")")]);
                Ok(Step::Again)
            }
            Goal::LoopEnd | Goal::SwitchEnd { .. } => Ok(Step::Again),
            Goal::CaseEnd => self.case_end(),
            Goal::ScopeEnd => {
                Arc::make_mut(&mut self.scopes).pop();
                Ok(Step::Again)
            }
            Goal::FunctionEnd => {
                self.function = None;
                Ok(Step::Again)
            }
            Goal::Label => self.label(lexeme),
            Goal::Designator(ty) => self.designator(&ty, lexeme),
            Goal::Attribute(at) => self.attribute(at, lexeme),
            Goal::Attributed => {
                if !self.loop_next && !self.begins_declaration(lexeme) {
                    return Err(Refusal::Syntax);
                }
                self.statement(lexeme, true)
            }
            Goal::Specifiers(declaration) => self.specifiers(declaration, lexeme),
            Goal::Declarator(declaration) => self.declarator(declaration, lexeme),
            Goal::Inner(declaration) => self.inner(declaration, lexeme),
            Goal::Named(declaration) => self.named(declaration, lexeme),
            Goal::Size => self.size(lexeme),
            Goal::Parameters(declaration, all) => self.parameters(declaration, all, lexeme),
            Goal::AfterParameters(declaration, all) => {
                self.after_parameters(declaration, all, lexeme)
            }
            Goal::Tag { union, name } => self.tag(union, name, lexeme),
            Goal::Members(at) => self.members(at, lexeme),
            Goal::EnumTag(name) => self.enum_tag(name, lexeme),
            Goal::Enumerators { name, any } => self.enumerators(name, any, lexeme),
            Goal::Initializer { ty, fixed } => self.initializer(ty, fixed, lexeme),
            Goal::List { ty, filled, count, fixed } => self.list(ty, filled, count, fixed, lexeme),
            Goal::Expression(expression) => self.express(expression, lexeme),
            Goal::Parenthesis => self.parenthesis(lexeme),
            Goal::CastEnd => self.cast_end(lexeme),
            Goal::IndexEnd => self.index_end(),
            Goal::ParenthesisEnd => self.parenthesis_end(),
            Goal::MiddleEnd => self.middle_end(),
            Goal::CompoundEnd(ty) => self.compound_end(ty),
            Goal::StatementsEnd => self.statements_end(),
            Goal::ReinterpretedEnd => self.reinterpreted_end(),
            Goal::Lanes { ty, filled, fixed } => self.lanes(ty, filled, fixed, lexeme),
            Goal::Member { arrow } => self.member(arrow, lexeme),
            Goal::Call { callee, arguments } => self.call(callee, arguments, lexeme),
        }
    }

    /// What a name stands for, innermost scope first.
    pub(super) fn lookup(&self, name: &str) -> Option<&Symbol> {
        let all = self.scopes.iter().rev().flat_map(|scope| scope.symbols.iter().rev());
        all.into_iter().find(|(known, _)| **known == *name).map(|(_, symbol)| symbol)
    }

    /// The names that can be seen, for one that is being spelled.
    pub(super) fn visible(&self) -> impl Iterator<Item = &(Name, Symbol)> {
        self.scopes.iter().rev().flat_map(|scope| scope.symbols.iter().rev())
    }

    pub(super) fn here(&mut self) -> &mut Scope {
        Arc::make_mut(&mut self.scopes).last_mut().expect("file scope is never left")
    }

    pub(super) fn declare(&mut self, name: Name, symbol: Symbol) {
        self.here().symbols.push((name, symbol));
    }
}

/// Whether a directive may begin like this, at file scope or within a function.
fn directive_begins(text: &str, file: bool) -> bool {
    const EXTENSION: &str = "#pragma OPENCL EXTENSION ";
    let whole: &[&str] = match file {
        true => &["ON", "OFF", "DEFAULT"],
        false => &["#pragma unroll ", "#pragma nounroll"],
    };
    if !file {
        let count = text.strip_prefix(whole[0]).unwrap_or("none");
        let counts = count.len() < 4 && count.parse::<u16>().is_ok_and(|count| count > 0);
        return counts || whole.iter().any(|one| one.starts_with(text));
    }
    let named = text.strip_prefix(EXTENSION).is_some_and(|rest| {
        let (name, rest) = rest.split_once(' ').unwrap_or((rest, ""));
        let word = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
        let known = name.len() < 40 && name.bytes().all(word);
        known && [": enable", ": disable"].iter().any(|end| end.starts_with(rest))
    });
    let contracts = |end: &&str| format!("#pragma OPENCL FP_CONTRACT {end}").starts_with(text);
    named || EXTENSION.starts_with(text) || whole.iter().any(contracts)
}

//! An incremental parser of OpenCL C: takes one lexeme after the other and refuses the first that
//! cannot go on to a program that compiles.
//!
//! It is a stack of [`Goal`]s. The topmost takes a lexeme, passes it on to the goal below (it is
//! done), puts goals on top of itself, or refuses.

use super::{
    declare::{Declaration, Parameter, Place},
    express::{Expression, Operand, Purpose},
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
                || crate::tokenizer::KEYWORDS.binary_search(&self.text).is_err()
                    && Type::named(self.text).is_none()
                    && !matches!(self.text, "signed" | "unsigned"))
    }
}

/// What the parser waits for.
#[derive(Clone, Debug)]
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
    SwitchEnd,
    ScopeEnd,
    FunctionEnd,
    /// The name after `goto`.
    Label,
    /// Any name.
    Word,
    /// Two opening parentheses and all up to their end.
    Attribute {
        depth: u32,
    },
    Specifiers(Box<Declaration>),
    Declarator(Box<Declaration>),
    Named(Box<Declaration>),
    /// `]` or a size.
    Size,
    Parameters(Box<Declaration>, Vec<Parameter>),
    AfterParameters(Box<Declaration>, Vec<Parameter>),
    /// After `struct` or `union`; the tag once it is there.
    Tag(Option<Name>),
    Members(usize),
    EnumTag,
    Enumerators {
        value: bool,
    },
    /// A value for something of this type: a list in braces, or an expression.
    Initialiser(Type),
    /// Between the braces of a list.
    List {
        ty: Type,
        filled: bool,
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
    /// Components of a vector literal so far.
    Lanes {
        ty: Type,
        filled: u8,
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

/// Members of a struct or union; empty while it is not complete.
pub(super) type Members = Vec<(Name, Type)>;

/// The parser.
#[derive(Clone, Debug)]
pub(super) struct Parser {
    pub(super) goals: Vec<Goal>,
    pub(super) scopes: Vec<Scope>,
    pub(super) structs: Vec<Members>,
    /// Result of the function being defined, and whether it is a kernel.
    pub(super) function: Option<(Type, bool)>,
    /// Kernels defined so far.
    pub(super) kernels: usize,
    pub(super) labels: Vec<Name>,
    pub(super) jumps: Vec<Name>,
    /// Whether functions of one name may be several.
    pub(super) overloadable: bool,
    /// What the last completed type name, expression and parameter came to.
    pub(super) type_value: Type,
    pub(super) operand_value: Option<Operand>,
    pub(super) parameter_value: Option<Parameter>,
}

impl Parser {
    pub(super) fn new() -> Parser {
        Parser {
            goals: vec![Goal::File],
            scopes: vec![Scope::default()],
            structs: Vec::new(),
            function: None,
            kernels: 0,
            labels: Vec::new(),
            jumps: Vec::new(),
            overloadable: false,
            type_value: Type::Unknown,
            operand_value: None,
            parameter_value: None,
        }
    }

    /// Take a lexeme. After a refusal the parser is of no more use.
    pub(super) fn push(&mut self, lexeme: Lexeme<'_>) -> std::result::Result<(), Refusal> {
        if lexeme.sort == Sort::Directive {
            return if self.at_line_start() { Ok(()) } else { Err(Refusal::Syntax) };
        }
        // Every round takes a goal away or puts one there that takes the lexeme: it ends.
        for _ in 0..10_000 {
            let Some(goal) = self.goals.pop() else { return Err(Refusal::Syntax) };
            if self.handle(goal, lexeme)? == Step::Taken {
                return Ok(());
            }
        }
        Err(Refusal::Syntax)
    }

    /// Whether a program may end here: at file scope, with a kernel.
    pub(super) fn may_end(&self) -> bool {
        self.at_file_scope() && self.kernels > 0
    }

    /// Whether nothing is open: what follows a function's last brace is the file's again.
    pub(super) fn at_file_scope(&self) -> bool {
        matches!(self.goals[..], [Goal::File] | [Goal::File, Goal::FunctionEnd])
    }

    fn at_line_start(&self) -> bool {
        matches!(
            self.goals.last(),
            Some(
                Goal::File | Goal::FunctionEnd | Goal::Block { .. } | Goal::Statement | Goal::Else
            )
        )
    }

    pub(super) fn want(&mut self, goal: Goal) {
        self.goals.push(goal);
    }

    /// Wait for goals, the first of them first.
    fn want_all<const N: usize>(&mut self, goals: [Goal; N]) {
        self.goals.extend(goals.into_iter().rev());
    }

    pub(super) fn want_expression(&mut self, purpose: Purpose) {
        self.want(Goal::Expression(Box::new(Expression::new(purpose))));
    }

    fn expression(purpose: Purpose) -> Goal {
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
            Goal::ForFirst => {
                if lexeme.text == ";" {
                    return Ok(Step::Taken);
                }
                if self.begins_declaration(lexeme) {
                    self.want(Goal::Specifiers(Box::new(Declaration::new(Place::ForFirst))));
                } else {
                    self.want_all([Parser::expression(Purpose::Statement), Goal::Exactly(";")]);
                }
                Ok(Step::Again)
            }
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
            Goal::LoopEnd | Goal::SwitchEnd => Ok(Step::Again),
            Goal::ScopeEnd => {
                self.scopes.pop();
                Ok(Step::Again)
            }
            Goal::FunctionEnd => {
                self.function = None;
                Ok(Step::Again)
            }
            Goal::Label => {
                if !lexeme.is_name() {
                    return Err(Refusal::Syntax);
                }
                self.jumps.push(lexeme.text.into());
                Ok(Step::Taken)
            }
            Goal::Word if lexeme.is_name() => Ok(Step::Taken),
            Goal::Word => Err(Refusal::Syntax),
            Goal::Attribute { depth } => {
                let depth = match lexeme.text {
                    "(" => depth + 1,
                    ")" => depth.checked_sub(1).ok_or(Refusal::Syntax)?,
                    "{" | "}" | ";" => return Err(Refusal::Syntax),
                    _ if depth < 2 => return Err(Refusal::Syntax),
                    word => {
                        self.overloadable |= word == "overloadable";
                        depth
                    }
                };
                if depth > 0 {
                    self.want(Goal::Attribute { depth });
                }
                Ok(Step::Taken)
            }
            Goal::Specifiers(declaration) => self.specifiers(declaration, lexeme),
            Goal::Declarator(declaration) => self.declarator(declaration, lexeme),
            Goal::Named(declaration) => self.named(declaration, lexeme),
            Goal::Size => {
                if lexeme.text == "]" {
                    return Ok(Step::Taken);
                }
                self.want_all([Parser::expression(Purpose::Size), Goal::Exactly("]")]);
                Ok(Step::Again)
            }
            Goal::Parameters(declaration, all) => self.parameters(declaration, all, lexeme),
            Goal::AfterParameters(declaration, all) => {
                self.after_parameters(declaration, all, lexeme)
            }
            Goal::Tag(name) => self.tag(name, lexeme),
            Goal::Members(at) => self.members(at, lexeme),
            Goal::EnumTag => {
                if lexeme.text == "{" {
                    self.want(Goal::Enumerators { value: false });
                    return Ok(Step::Taken);
                }
                if lexeme.is_name() {
                    self.want(Goal::EnumTag);
                    return Ok(Step::Taken);
                }
                Ok(Step::Again)
            }
            Goal::Enumerators { value } => self.enumerators(value, lexeme),
            Goal::Initialiser(ty) => {
                if lexeme.text == "{" {
                    self.want(Goal::List { ty, filled: false });
                    return Ok(Step::Taken);
                }
                if matches!(ty, Type::Array(_)) && lexeme.sort != Sort::Text {
                    return Err(Refusal::Type);
                }
                self.want_expression(Purpose::Value(ty));
                Ok(Step::Again)
            }
            Goal::List { ty, filled } => self.list(ty, filled, lexeme),
            Goal::Expression(expression) => self.express(expression, lexeme),
            Goal::Parenthesis => {
                if self.begins_declaration(lexeme) {
                    let declaration = Box::new(Declaration::new(Place::TypeName));
                    self.want_all([
                        Goal::Specifiers(declaration),
                        Goal::Exactly(")"),
                        Goal::CastEnd,
                    ]);
                } else {
                    self.want_all([
                        Parser::expression(Purpose::Inner),
                        Goal::Exactly(")"),
                        Goal::ParenthesisEnd,
                    ]);
                }
                Ok(Step::Again)
            }
            Goal::CastEnd => self.cast_end(lexeme),
            Goal::IndexEnd => self.index_end(),
            Goal::ParenthesisEnd => self.parenthesis_end(),
            Goal::MiddleEnd => self.middle_end(),
            Goal::CompoundEnd(ty) => self.compound_end(ty),
            Goal::Lanes { ty, filled } => self.lanes(ty, filled, lexeme),
            Goal::Member { arrow } => self.member(arrow, lexeme),
            Goal::Call { callee, arguments } => self.call(callee, arguments, lexeme),
        }
    }

    fn in_block(&mut self, function: bool, lexeme: Lexeme<'_>) -> Outcome {
        if lexeme.text == "}" {
            if function {
                let missing = self.jumps.iter().any(|jump| !self.labels.contains(jump));
                if missing {
                    return Err(Refusal::Undeclared);
                }
                self.labels.clear();
                self.jumps.clear();
            }
            self.scopes.pop();
            return Ok(Step::Taken);
        }
        self.want(Goal::Block { function });
        self.statement(lexeme, true)
    }

    /// Whether a loop or `switch` is open, below the function.
    fn within(&self, switch: bool) -> bool {
        self.goals.iter().any(|goal| match goal {
            Goal::SwitchEnd => true,
            Goal::LoopEnd => !switch,
            _ => false,
        })
    }

    fn in_switch(&self) -> bool {
        self.goals.iter().any(|goal| matches!(goal, Goal::SwitchEnd))
    }

    fn in_loop(&self) -> bool {
        self.goals.iter().any(|goal| matches!(goal, Goal::LoopEnd))
    }

    fn statement(&mut self, lexeme: Lexeme<'_>, declarations: bool) -> Outcome {
        use Goal::Exactly;
        match lexeme.text {
            ";" => {}
            "{" => {
                self.scopes.push(Scope::default());
                self.want(Goal::Block { function: false });
            }
            "if" => self.want_all([
                Exactly("("),
                Parser::expression(Purpose::Condition),
                Exactly(")"),
                Goal::Statement,
                Goal::Else,
            ]),
            "while" => self.want_all([
                Exactly("("),
                Parser::expression(Purpose::Condition),
                Exactly(")"),
                Goal::Statement,
                Goal::LoopEnd,
            ]),
            "do" => self.want_all([
                Goal::Statement,
                Goal::LoopEnd,
                Exactly("while"),
                Exactly("("),
                Parser::expression(Purpose::Condition),
                Exactly(")"),
                Exactly(";"),
            ]),
            "for" => {
                self.scopes.push(Scope::default());
                self.want_all([
                    Exactly("("),
                    Goal::ForFirst,
                    Goal::ForSecond,
                    Goal::ForThird,
                    Goal::Statement,
                    Goal::LoopEnd,
                    Goal::ScopeEnd,
                ]);
            }
            "switch" => self.want_all([
                Exactly("("),
                Parser::expression(Purpose::Choice),
                Exactly(")"),
                Goal::Statement,
                Goal::SwitchEnd,
            ]),
            "case" if self.in_switch() => {
                self.want_all([Parser::expression(Purpose::Case), Exactly(":")]);
            }
            "default" if self.in_switch() => self.want(Exactly(":")),
            "break" if self.within(false) => self.want(Exactly(";")),
            "continue" if self.in_loop() => self.want(Exactly(";")),
            "case" | "default" | "break" | "continue" => return Err(Refusal::Context),
            "goto" => self.want_all([Goal::Label, Exactly(";")]),
            "return" => match self.function.clone() {
                Some((Type::Void, _)) => self.want(Exactly(";")),
                Some((ty, _)) => {
                    self.want_all([Parser::expression(Purpose::Value(ty)), Exactly(";")]);
                }
                None => return Err(Refusal::Context),
            },
            "__attribute__" => {
                self.want_all([Goal::Attribute { depth: 0 }, Goal::Statement]);
            }
            _ if declarations && self.begins_declaration(lexeme) => {
                self.want(Goal::Specifiers(Box::new(Declaration::new(Place::Block))));
                return Ok(Step::Again);
            }
            _ if lexeme.is_name()
                && is_label(lexeme.text)
                && self.lookup(lexeme.text).is_none() =>
            {
                if self.labels.iter().any(|label| **label == *lexeme.text) {
                    return Err(Refusal::Redeclared);
                }
                self.labels.push(lexeme.text.into());
                self.want(Exactly(":"));
            }
            _ => {
                self.want_all([Parser::expression(Purpose::Statement), Exactly(";")]);
                return Ok(Step::Again);
            }
        }
        Ok(Step::Taken)
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
        self.scopes.last_mut().expect("file scope is never left")
    }

    pub(super) fn declare(&mut self, name: Name, symbol: Symbol) {
        self.here().symbols.push((name, symbol));
    }
}

/// `La`, `Lb`, …: the names that the rewriter gives to labels.
fn is_label(name: &str) -> bool {
    name.len() > 1
        && name.starts_with('L')
        && name[1..].bytes().all(|byte| byte.is_ascii_lowercase())
}

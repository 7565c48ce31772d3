//! Programs as trees that edits can change: one kernel, and the text around it.
//!
//! Read from clang's syntax tree, so that mined kernels and made ones are edited alike. What an edit
//! cannot understand is kept as the text it was.

mod apart;
mod barrier;
mod descent;
mod fit;
mod fold;
mod helper;
mod join;
mod merge;
mod own;
mod print;
mod race;
mod read;
mod types;
mod unset;
mod unused;
mod walk;

pub(crate) use descent::Ancestors;
pub(crate) use helper::{with_helper, with_shared_helper, with_static_helpers};
pub(crate) use join::{Join, is_joinable};
pub(crate) use print::{as_mined, renumbered};
pub(crate) use types::{Scalar, Space, Ty};
pub(crate) use unused::without_unused;
pub(crate) use walk::{Place, Scope, Variable, Visitor, declares};

/// Statements that a paragraph takes with it.
const PARAGRAPH: usize = 8;

/// A program: its kernel as a tree, everything else as text.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    /// All before the kernel's first parameter.
    pub(crate) head: String,
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) body: Vec<Statement>,
    /// All behind the kernel.
    pub(crate) tail: String,
    /// The least number that no name given here has.
    pub(crate) next: usize,
    pub(crate) style: Style,
    pub(crate) ancestors: Ancestors,
}

/// How edits write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Style {
    /// Whether they name what is there rather than new parameters, and write a work-item's own elements.
    pub(crate) sparing: bool,
    /// Parameters that a kernel gets at most.
    pub(crate) parameters: usize,
}

impl Default for Style {
    /// OpenCL promises room for 1,024 bytes of parameters.
    fn default() -> Style {
        Style { sparing: false, parameters: 96 }
    }
}

/// A parameter of the kernel.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Parameter {
    pub(crate) text: String,
    pub(crate) name: String,
    pub(crate) ty: Ty,
}

/// A statement.
#[derive(Clone, Debug, PartialEq, Hash)]
pub(crate) enum Statement {
    /// `prefix` is all up to the initialiser (`int a = `), or up to the semicolon without one.
    Declare {
        prefix: String,
        name: String,
        ty: Ty,
        value: Option<Expression>,
    },
    Evaluate(Expression),
    If {
        condition: Expression,
        then: Vec<Statement>,
        otherwise: Option<Vec<Statement>>,
    },
    For {
        start: Option<Box<Statement>>,
        condition: Option<Expression>,
        step: Option<Expression>,
        body: Vec<Statement>,
    },
    While {
        condition: Expression,
        body: Vec<Statement>,
    },
    Do {
        body: Vec<Statement>,
        condition: Expression,
    },
    Block(Vec<Statement>),
    /// As text, its semicolon included.
    Opaque(String),
}

/// An expression and the type of its value.
#[derive(Clone, Debug, PartialEq, Hash)]
pub(crate) struct Expression {
    pub(crate) ty: Ty,
    pub(crate) node: Node,
}

/// What an expression does.
#[derive(Clone, Debug, PartialEq, Hash)]
pub(crate) enum Node {
    Name(String),
    Literal(String),
    Binary(String, Box<Expression>, Box<Expression>),
    Assign(String, Box<Expression>, Box<Expression>),
    Unary(String, Box<Expression>),
    Postfix(String, Box<Expression>),
    /// To the type of this name.
    Cast(String, Box<Expression>),
    Call(String, Vec<Expression>),
    Index(Box<Expression>, Box<Expression>),
    Choice(Box<Expression>, Box<Expression>, Box<Expression>),
    /// Lanes of a vector.
    Lanes(Box<Expression>, String),
    /// A vector of these.
    Vector(String, Vec<Expression>),
    Opaque(String),
}

impl Expression {
    pub(crate) fn new(ty: Ty, node: Node) -> Expression {
        Expression { ty, node }
    }

    pub(crate) fn name(ty: Ty, name: impl Into<String>) -> Expression {
        Expression::new(ty, Node::Name(name.into()))
    }

    pub(crate) fn literal(ty: Ty, text: impl Into<String>) -> Expression {
        Expression::new(ty, Node::Literal(text.into()))
    }

    pub(crate) fn binary(
        ty: Ty,
        operator: &str,
        left: Expression,
        right: Expression,
    ) -> Expression {
        Expression::new(ty, Node::Binary(operator.to_owned(), Box::new(left), Box::new(right)))
    }

    pub(crate) fn cast(ty: Ty, value: Expression) -> Expression {
        Expression::new(ty, Node::Cast(ty.to_string(), Box::new(value)))
    }

    pub(crate) fn call(ty: Ty, function: &str, arguments: Vec<Expression>) -> Expression {
        Expression::new(ty, Node::Call(function.to_owned(), arguments))
    }

    pub(crate) fn index(ty: Ty, pointer: Expression, at: Expression) -> Expression {
        Expression::new(ty, Node::Index(Box::new(pointer), Box::new(at)))
    }

    pub(crate) fn assign(left: Expression, right: Expression) -> Expression {
        Expression::new(left.ty, Node::Assign("=".to_owned(), Box::new(left), Box::new(right)))
    }

    /// Whether it asks about the work-item: `get_global_id(0)` and its like.
    pub(crate) fn is_of_work_item(&self) -> bool {
        matches!(&self.node, Node::Call(function, _) if function.starts_with("get_"))
    }

    /// Takes it out, leaving something without meaning behind.
    pub(crate) fn take(&mut self) -> Expression {
        std::mem::replace(self, Expression::literal(Ty::Other, "0"))
    }
}

impl Program {
    /// A kernel with one buffer and an empty body: where making starts.
    #[must_use]
    pub fn empty() -> Program {
        Program {
            head: "__kernel void A(".to_owned(),
            parameters: Vec::new(),
            body: Vec::new(),
            tail: "\n".to_owned(),
            next: 0,
            style: Style::default(),
            ancestors: Ancestors::default(),
        }
    }

    /// A name that nothing in the program has.
    pub(crate) fn fresh_name(&mut self) -> String {
        loop {
            let name = format!("p{}", self.next);
            self.next += 1;
            let taken = self.parameters.iter().any(|parameter| parameter.name == name)
                || self.head.contains(&name)
                || walk::declares(&self.body, &name);
            if !taken {
                return name;
            }
        }
    }

    /// A few of the program's statements with its parameters, as a program that is quick to edit; to
    /// be made part of it again by [`Program::append`].
    pub(crate) fn paragraph(&mut self, rng: &mut impl rand::Rng) -> Program {
        let mut body = Vec::new();
        // Pointer variables come along: parts of a kernel that lie far apart use them.
        let mut at = 0;
        while at < self.body.len() {
            if self.points_to_parameter(&self.body[at]) {
                body.push(self.body.remove(at));
            } else {
                at += 1;
            }
        }
        for _ in 0..PARAGRAPH.min(self.body.len()) {
            let at = rng.random_range(0..self.body.len());
            if matches!(self.body[at], Statement::Evaluate(_)) {
                body.push(self.body.remove(at));
            }
        }
        Program {
            head: self.head.clone(),
            parameters: self.parameters.clone(),
            body,
            tail: self.tail.clone(),
            next: self.next,
            style: self.style,
            ancestors: self.ancestors.clone(),
        }
    }

    /// About how many statements it has, long ones counted as several.
    pub(crate) fn size(&mut self) -> usize {
        let mut expressions = 0;
        for statement in &mut self.body {
            statement.each_expression(&mut |_| expressions += 1);
        }
        expressions / 8
    }

    /// Bytes of its statements as text.
    pub(crate) fn length(&mut self) -> usize {
        let parameters = std::mem::take(&mut self.parameters);
        let length = self.to_string().len();
        self.parameters = parameters;
        length
    }

    /// Puts the paragraph's statements behind the program's, and its pointer variables in front.
    pub(crate) fn append(&mut self, paragraph: &mut Program) {
        self.head.clone_from(&paragraph.head);
        self.parameters.clone_from(&paragraph.parameters);
        self.next = paragraph.next;
        let (mut pointers, mut rest): (Vec<_>, Vec<_>) =
            paragraph.body.drain(..).partition(|statement| self.points_to_parameter(statement));
        pointers.append(&mut self.body);
        self.body = pointers;
        self.body.append(&mut rest);
    }

    /// Whether it declares a pointer and sets it to a parameter: wherever that stands, it means the
    /// same.
    fn points_to_parameter(&self, statement: &Statement) -> bool {
        matches!(statement, Statement::Declare { ty: Ty::Pointer { .. }, value: Some(value), .. }
            if matches!(&value.node, Node::Name(name)
                if self.parameters.iter().any(|parameter| parameter.name == *name)))
    }

    /// `get_global_id(0)`.
    fn own_place_call() -> Expression {
        Expression::call(Ty::SIZE, "get_global_id", vec![Expression::literal(Ty::INT, "0")])
    }

    /// The variable that holds the work-item's own place: one that is there, or a new one in front of all.
    pub(crate) fn own_place(&mut self) -> Expression {
        let call = Program::own_place_call();
        let known = self.body.iter().find_map(|statement| match statement {
            Statement::Declare { prefix, name, ty: Ty::INT, value: Some(value) }
                if value.node == call.node && prefix.starts_with("int ") =>
            {
                Some(name.clone())
            }
            _ => None,
        });
        let name = known.unwrap_or_else(|| {
            let name = self.fresh_name();
            let declared = Statement::Declare {
                prefix: format!("int {name} = "),
                name: name.clone(),
                ty: Ty::INT,
                value: Some(call),
            };
            self.body.insert(0, declared);
            name
        });
        Expression::name(Ty::INT, name)
    }

    /// Adds a parameter of this type; the expression that names it.
    pub(crate) fn add_parameter(&mut self, ty: Ty) -> Expression {
        let name = self.fresh_name();
        self.parameters.push(Parameter { text: format!("{ty} {name}"), name: name.clone(), ty });
        Expression::name(ty, name)
    }
}

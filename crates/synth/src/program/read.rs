//! clang's syntax tree as a tree of ours.

use super::{Expression, Node, Parameter, Program, Statement, Ty};
use clang::Tree;

/// Where in the syntax tree, and its text.
#[derive(Clone, Copy)]
struct Reader<'a> {
    tree: &'a Tree,
    source: &'a str,
}

impl Program {
    /// The program of a source and its syntax tree; `None` where the source has no kernel, or more
    /// than one, or macros hide its text.
    #[must_use]
    pub fn read(source: &str, tree: &Tree) -> Option<Program> {
        let reader = Reader { tree, source };
        let mut at = 0;
        let mut kernel = None;
        while at < tree.nodes.len() {
            if reader.kind(at) == "FunctionDecl"
                && reader.is_kernel(at)
                && kernel.replace(at).is_some()
            {
                return None;
            }
            at += tree.nodes[at].size as usize;
        }
        reader.kernel(kernel?)
    }
}

impl<'a> Reader<'a> {
    fn string(&self, index: u32) -> &'a str {
        self.tree.strings.get(index as usize).map_or("", String::as_str)
    }

    fn kind(&self, at: usize) -> &'a str {
        self.string(self.tree.nodes[at].kind)
    }

    fn text(&self, at: usize) -> &'a str {
        self.string(self.tree.nodes[at].text)
    }

    fn ty(&self, at: usize) -> Ty {
        Ty::parse(self.string(self.tree.nodes[at].type_name))
    }

    fn begin(&self, at: usize) -> Option<usize> {
        let begin = self.tree.nodes[at].begin;
        (begin != u32::MAX).then_some(begin as usize)
    }

    fn end(&self, at: usize) -> Option<usize> {
        let end = self.tree.nodes[at].end;
        (end != u32::MAX).then_some(end as usize)
    }

    fn slice(&self, at: usize) -> Option<&'a str> {
        self.source.get(self.begin(at)?..self.end(at)?)
    }

    fn children(&self, at: usize) -> Vec<usize> {
        let end = at + self.tree.nodes[at].size as usize;
        let mut children = Vec::new();
        let mut child = at + 1;
        while child < end {
            children.push(child);
            child += self.tree.nodes[child].size as usize;
        }
        children
    }

    fn is_kernel(&self, at: usize) -> bool {
        let has_body = self.children(at).iter().any(|child| self.kind(*child) == "CompoundStmt");
        let head = self.begin(at).and_then(|begin| {
            let rest = self.source.get(begin..)?;
            rest.get(..rest.find('(')?)
        });
        // An attribute in front has a parenthesis of its own.
        has_body
            && head.is_some_and(|head| {
                head.split(|c: char| !c.is_alphanumeric() && c != '_')
                    .any(|word| matches!(word, "kernel" | "__kernel"))
            })
    }

    fn kernel(&self, at: usize) -> Option<Program> {
        let children = self.children(at);
        let (body, parameters) = children.split_last()?;
        if self.kind(*body) != "CompoundStmt" {
            return None;
        }
        let parameters = parameters
            .iter()
            .map(|at| {
                Some(Parameter {
                    text: self.slice(*at)?.to_owned(),
                    name: self.text(*at).to_owned(),
                    ty: self.ty(*at),
                })
            })
            .collect::<Option<Vec<_>>>()?;
        let open = match children.first() {
            Some(first) if first != body => self.begin(*first)?,
            _ => self.source.get(..self.begin(*body)?)?.rfind('(')? + 1,
        };
        Some(Program {
            head: self.source.get(..open)?.to_owned(),
            next: parameters.len(),
            parameters,
            body: self.statements(*body)?,
            tail: self.source.get(self.end(*body)?..)?.to_owned(),
            style: super::Style::default(),
            ancestors: super::Ancestors::default(),
        })
    }

    fn statements(&self, compound: usize) -> Option<Vec<Statement>> {
        let mut list = Vec::new();
        for child in self.children(compound) {
            self.statement(child, &mut list)?;
        }
        Some(list)
    }

    /// A statement's own list if it is a compound, else itself alone.
    fn block(&self, at: usize) -> Option<Vec<Statement>> {
        if self.kind(at) == "CompoundStmt" {
            return self.statements(at);
        }
        let mut list = Vec::new();
        self.statement(at, &mut list)?;
        Some(list)
    }

    /// The text of a statement, its semicolon included.
    fn whole(&self, at: usize) -> Option<String> {
        let text = self.slice(at)?;
        if text.ends_with(['}', ';']) {
            return Some(text.to_owned());
        }
        let rest = self.source.get(self.end(at)?..)?;
        let gap = rest.find(';')?;
        rest[..gap].trim().is_empty().then(|| format!("{text};"))
    }

    fn statement(&self, at: usize, into: &mut Vec<Statement>) -> Option<()> {
        let children = self.children(at);
        let is_null = |at: usize| self.kind(at) == "Null";
        let statement = match (self.kind(at), children.as_slice()) {
            ("CompoundStmt", _) => Statement::Block(self.statements(at)?),
            ("NullStmt", _) => return Some(()),
            ("DeclStmt", _) => {
                self.declarations(at, &children, into)?;
                return Some(());
            }
            ("IfStmt", [condition, then]) => Statement::If {
                condition: self.expression(*condition)?,
                then: self.block(*then)?,
                otherwise: None,
            },
            ("IfStmt", [condition, then, otherwise]) => Statement::If {
                condition: self.expression(*condition)?,
                then: self.block(*then)?,
                otherwise: Some(self.block(*otherwise)?),
            },
            ("ForStmt", [start, variable, condition, step, body]) if is_null(*variable) => {
                let mut first = Vec::new();
                if !is_null(*start) {
                    self.statement(*start, &mut first)?;
                }
                // Several variables of one `for` stay as they were written.
                let start = match first.len() {
                    0 => None,
                    1 => first.pop(),
                    _ => Some(Statement::Opaque(self.whole(*start)?)),
                };
                let part = |at: usize| {
                    if is_null(at) { Some(None) } else { self.expression(at).map(Some) }
                };
                Statement::For {
                    start: start.map(Box::new),
                    condition: part(*condition)?,
                    step: part(*step)?,
                    body: self.block(*body)?,
                }
            }
            ("WhileStmt", [condition, body]) => Statement::While {
                condition: self.expression(*condition)?,
                body: self.block(*body)?,
            },
            ("DoStmt", [body, condition]) => {
                Statement::Do { body: self.block(*body)?, condition: self.expression(*condition)? }
            }
            (kind, _) if is_expression(kind) => Statement::Evaluate(self.expression(at)?),
            _ => Statement::Opaque(self.whole(at)?),
        };
        into.push(statement);
        Some(())
    }

    fn declarations(&self, at: usize, children: &[usize], into: &mut Vec<Statement>) -> Option<()> {
        let text = self.whole(at)?;
        let plain = children.iter().all(|child| {
            self.kind(*child) == "VarDecl"
                && matches!(self.ty(*child), Ty::Number(..))
                && !text.starts_with("__local")
                && !text.starts_with("local ")
        });
        if !plain {
            // Arrays, pointers, local memory: the text stays, a single name becomes known.
            into.push(match children {
                [only] if self.kind(*only) == "VarDecl" => Statement::Declare {
                    prefix: text.trim_end_matches(';').to_owned(),
                    name: self.text(*only).to_owned(),
                    ty: self.ty(*only),
                    value: None,
                },
                _ => Statement::Opaque(text),
            });
            return Some(());
        }
        for child in children {
            let name = self.text(*child).to_owned();
            let ty = self.ty(*child);
            let value = match self.children(*child).first() {
                Some(value) => Some(self.expression(*value)?),
                None => None,
            };
            let equals = if value.is_some() { " = " } else { "" };
            let is_size = self.string(self.tree.nodes[*child].type_name).contains("size_t");
            let word = if is_size { ty.word() } else { ty.to_string() };
            into.push(Statement::Declare {
                prefix: format!("{word} {name}{equals}"),
                name,
                ty,
                value,
            });
        }
        Some(())
    }

    fn expression(&self, at: usize) -> Option<Expression> {
        let ty = self.ty(at);
        let children = self.children(at);
        let text = self.text(at).to_owned();
        let boxed = |at: usize| self.expression(at).map(Box::new);
        let node = match (self.kind(at), children.as_slice()) {
            ("ImplicitCastExpr" | "ParenExpr", [inner]) => return self.expression(*inner),
            ("DeclRefExpr", []) => Node::Name(text),
            ("IntegerLiteral" | "FloatingLiteral" | "CharacterLiteral", []) => {
                Node::Literal(self.slice(at)?.to_owned())
            }
            ("BinaryOperator", [left, right]) if text == "=" => {
                Node::Assign(text, boxed(*left)?, boxed(*right)?)
            }
            ("BinaryOperator", [left, right]) => Node::Binary(text, boxed(*left)?, boxed(*right)?),
            ("CompoundAssignOperator", [left, right]) => {
                Node::Assign(text, boxed(*left)?, boxed(*right)?)
            }
            ("UnaryOperator", [operand]) => match text.strip_prefix("post") {
                Some(operator) => Node::Postfix(operator.to_owned(), boxed(*operand)?),
                None => Node::Unary(text, boxed(*operand)?),
            },
            ("CStyleCastExpr", [operand]) if matches!(ty, Ty::Number(_, 1)) => {
                Node::Cast(ty.to_string(), boxed(*operand)?)
            }
            ("CallExpr", [function, arguments @ ..]) => {
                let Node::Name(function) = self.expression(*function)?.node else {
                    return self.opaque(at);
                };
                let arguments = arguments.iter().map(|at| self.expression(*at));
                Node::Call(function, arguments.collect::<Option<_>>()?)
            }
            ("ArraySubscriptExpr", [pointer, index]) => {
                Node::Index(boxed(*pointer)?, boxed(*index)?)
            }
            ("ConditionalOperator", [condition, yes, no]) => {
                Node::Choice(boxed(*condition)?, boxed(*yes)?, boxed(*no)?)
            }
            ("ExtVectorElementExpr", [vector]) => Node::Lanes(boxed(*vector)?, text),
            _ => return self.opaque(at),
        };
        Some(Expression { ty, node })
    }

    fn opaque(&self, at: usize) -> Option<Expression> {
        Some(Expression { ty: self.ty(at), node: Node::Opaque(self.slice(at)?.to_owned()) })
    }
}

fn is_expression(kind: &str) -> bool {
    kind.ends_with("Expr") || kind.ends_with("Operator") || kind.ends_with("Literal")
}

use clang::Tree;

/// A node of a syntax tree, with the tree.
#[derive(Clone, Copy)]
pub(crate) struct Syntax<'a> {
    tree: &'a Tree,
    pub(crate) index: usize,
}

impl<'a> Syntax<'a> {
    /// The declarations at file scope, in order.
    pub(crate) fn roots(tree: &'a Tree) -> impl Iterator<Item = Syntax<'a>> {
        siblings(tree, 0, tree.nodes.len())
    }

    /// All nodes in preorder.
    pub(crate) fn all(tree: &'a Tree) -> impl Iterator<Item = Syntax<'a>> {
        (0..tree.nodes.len()).map(move |index| Syntax { tree, index })
    }

    fn string(self, index: u32) -> &'a str {
        self.tree.strings.get(index as usize).map_or("", String::as_str)
    }

    /// clang's class name.
    pub(crate) fn kind(self) -> &'a str {
        self.string(self.tree.nodes[self.index].kind)
    }

    /// The printed type.
    pub(crate) fn type_name(self) -> &'a str {
        self.string(self.tree.nodes[self.index].type_name)
    }

    /// Operator, literal or name.
    pub(crate) fn text(self) -> &'a str {
        self.string(self.tree.nodes[self.index].text)
    }

    /// One past the last node of its subtree.
    pub(crate) fn end(self) -> usize {
        let size = self.tree.nodes[self.index].size.max(1) as usize;
        (self.index + size).min(self.tree.nodes.len())
    }

    /// Its children, in order.
    pub(crate) fn children(self) -> impl Iterator<Item = Syntax<'a>> {
        siblings(self.tree, self.index + 1, self.end())
    }

    /// Its child at `place`.
    pub(crate) fn child(self, place: usize) -> Option<Syntax<'a>> {
        self.children().nth(place)
    }

    /// It and everything below, in preorder.
    pub(crate) fn subtree(self) -> impl Iterator<Item = Syntax<'a>> {
        let tree = self.tree;
        (self.index..self.end()).map(move |index| Syntax { tree, index })
    }

    /// Whether it is an operator with two operands, assignments included.
    pub(crate) fn is_binary(self) -> bool {
        matches!(self.kind(), "BinaryOperator" | "CompoundAssignOperator")
    }

    /// It without the parentheses and implicit conversions around.
    pub(crate) fn bare(self) -> Syntax<'a> {
        let mut at = self;
        while matches!(at.kind(), "ParenExpr" | "ImplicitCastExpr") {
            match at.child(0) {
                Some(inner) => at = inner,
                None => break,
            }
        }
        at
    }

    /// The name of the function a call calls directly.
    pub(crate) fn callee(self) -> Option<&'a str> {
        let callee = self.child(0)?.bare();
        (callee.kind() == "DeclRefExpr").then(|| callee.text())
    }

    /// Whether a function declaration has its body here.
    pub(crate) fn has_body(self) -> bool {
        self.children().any(|child| child.kind() == "CompoundStmt")
    }
}

fn siblings(tree: &Tree, from: usize, to: usize) -> impl Iterator<Item = Syntax<'_>> {
    let mut next = from;
    std::iter::from_fn(move || {
        if next >= to {
            return None;
        }
        let found = Syntax { tree, index: next };
        next = found.end();
        Some(found)
    })
}

use clang::{Facts, Node, Tree};
use std::ops::Range;

/// A program with its syntax tree.
pub(crate) struct Syntax<'a> {
    pub(crate) source: &'a str,
    /// Whether it is C++.
    pub(crate) cpp: bool,
    tree: &'a Tree,
    facts: &'a Facts,
    parents: Vec<Option<usize>>,
}

const NONE: u32 = u32::MAX;

impl<'a> Syntax<'a> {
    pub(crate) fn new(source: &'a str, tree: &'a Tree, facts: &'a Facts, cpp: bool) -> Syntax<'a> {
        let mut parents = vec![None; tree.nodes.len()];
        for (at, node) in tree.nodes.iter().enumerate() {
            let mut child = at + 1;
            while child < at + node.size as usize {
                parents[child] = Some(at);
                child += tree.nodes[child].size as usize;
            }
        }
        Syntax { source, cpp, tree, facts, parents }
    }

    fn node(&self, at: usize) -> &Node {
        &self.tree.nodes[at]
    }

    fn string(&self, index: u32) -> &'a str {
        self.tree.strings.get(index as usize).map_or("", String::as_str)
    }

    /// Every node, in preorder.
    pub(crate) fn all(&self) -> Range<usize> {
        0..self.tree.nodes.len()
    }

    /// A node and all below it.
    pub(crate) fn subtree(&self, at: usize) -> Range<usize> {
        at..at + self.node(at).size as usize
    }

    pub(crate) fn of_kind(&self, kind: &'static str) -> impl Iterator<Item = usize> + '_ {
        self.all().filter(move |at| self.kind(*at) == kind)
    }

    /// clang's class name.
    pub(crate) fn kind(&self, at: usize) -> &'a str {
        self.string(self.node(at).kind)
    }

    /// Operator, name or literal.
    pub(crate) fn text(&self, at: usize) -> &'a str {
        self.string(self.node(at).text)
    }

    /// The printed type.
    pub(crate) fn type_of(&self, at: usize) -> &'a str {
        self.string(self.node(at).type_name)
    }

    pub(crate) fn parent(&self, at: usize) -> Option<usize> {
        self.parents[at]
    }

    pub(crate) fn children(&self, at: usize) -> Vec<usize> {
        let end = at + self.node(at).size as usize;
        let mut children = Vec::new();
        let mut child = at + 1;
        while child < end {
            children.push(child);
            child += self.node(child).size as usize;
        }
        children
    }

    /// Bytes of the source; `None` for what comes from elsewhere.
    pub(crate) fn range(&self, at: usize) -> Option<Range<usize>> {
        let Node { begin, end, .. } = *self.node(at);
        let range = begin as usize..end as usize;
        (begin != NONE && end != NONE && self.source.get(range.clone()).is_some()).then_some(range)
    }

    /// Its text in the source; `None` for what comes from elsewhere.
    pub(crate) fn source_of(&self, at: usize) -> Option<&'a str> {
        Some(&self.source[self.range(at)?])
    }

    /// What a name refers to or a declaration declares.
    pub(crate) fn declaration(&self, at: usize) -> Option<u32> {
        let declaration = self.node(at).declaration;
        (declaration != NONE).then_some(declaration)
    }

    /// Where the name of what a node declares stands.
    pub(crate) fn name_offset(&self, at: usize) -> Option<usize> {
        let declaration = self.facts.declarations.get(self.declaration(at)? as usize)?;
        Some(declaration.name_offset? as usize)
    }

    /// Whether what a name refers to is a variable outside of all functions.
    pub(crate) fn is_global(&self, declaration: u32) -> bool {
        self.facts.declarations.get(declaration as usize).is_some_and(|declaration| {
            declaration.kind == clang::DeclarationKind::Variable && declaration.parent.is_none()
        })
    }

    /// A node without the casts and brackets around it.
    pub(crate) fn bare(&self, mut at: usize) -> usize {
        while matches!(
            self.kind(at),
            "ImplicitCastExpr" | "ParenExpr" | "ExprWithCleanups" | "MaterializeTemporaryExpr"
        ) && let [inner] = self.children(at)[..]
        {
            at = inner;
        }
        at
    }

    /// The variable that an expression is, brackets and casts aside.
    pub(crate) fn variable(&self, at: usize) -> Option<u32> {
        let at = self.bare(at);
        (self.kind(at) == "DeclRefExpr").then(|| self.declaration(at)).flatten()
    }

    /// The functions called below a node, by name.
    pub(crate) fn calls(&self, at: usize) -> Vec<(usize, &'a str)> {
        let calls = self.subtree(at).filter(|at| self.kind(*at) == "CallExpr");
        calls
            .filter_map(|call| {
                let callee = self.bare(*self.children(call).first()?);
                (self.kind(callee) == "DeclRefExpr").then(|| (call, self.text(callee)))
            })
            .collect()
    }

    /// Whether something below `at` may change a variable: assigns to it, takes its address, binds it to a
    /// reference, or calls a member of it that is not known to leave it as it is.
    pub(crate) fn may_change(&self, at: usize, variable: u32) -> bool {
        const READERS: [&str; 8] =
            ["size", "length", "empty", "at", "front", "back", "c_str", "count"];
        self.subtree(at).any(|node| {
            if self.kind(node) != "DeclRefExpr" || self.declaration(node) != Some(variable) {
                return false;
            }
            let Some(parent) = self.parent(node) else { return true };
            match self.kind(parent) {
                // Read as a value, or decayed to a pointer that is only read through.
                "ImplicitCastExpr" => match self.text(parent) {
                    "LValueToRValue" => false,
                    "NoOp" => !self.type_of(parent).starts_with("const "),
                    "ArrayToPointerDecay" => self.written_through(parent),
                    _ => true,
                },
                "MemberExpr" => !READERS.contains(&self.text(parent)),
                // `v[i]`: what is changed is an element.
                "CXXOperatorCallExpr" => true,
                _ => true,
            }
        })
    }

    /// Whether an array that decays to a pointer may be written through it.
    fn written_through(&self, decay: usize) -> bool {
        let Some(parent) = self.parent(decay) else { return true };
        match self.kind(parent) {
            "ArraySubscriptExpr" => !self.parent(parent).is_some_and(|above| {
                self.kind(above) == "ImplicitCastExpr" && self.text(above) == "LValueToRValue"
            }),
            "ImplicitCastExpr" => !self.type_of(parent).starts_with("const "),
            _ => true,
        }
    }

    /// Tokens with where they begin, comments left out.
    pub(crate) fn tokens(&self) -> Vec<(usize, crate::token::Token<'a>)> {
        let tokens = crate::token::tokens(self.source);
        tokens.into_iter().map(|token| (token.begin, token)).collect()
    }

    /// Whether the source has that word, in its code or in a directive.
    pub(crate) fn has_word(&self, word: &str) -> bool {
        self.source
            .split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
            .any(|found| found == word)
    }

    /// Behind the opening brace of `main`.
    pub(crate) fn main_body(&self) -> Option<usize> {
        let main = self
            .of_kind("FunctionDecl")
            .find(|at| self.text(*at) == "main" && self.body(*at).is_some())?;
        let range = self.range(self.body(main)?)?;
        self.source[range.clone()].starts_with('{').then_some(range.start + 1)
    }

    /// The body of a function's definition.
    pub(crate) fn body(&self, function: usize) -> Option<usize> {
        self.children(function).into_iter().rev().find(|at| self.kind(*at) == "CompoundStmt")
    }

    /// Where new code at file scope goes: behind the leading run of includes and pragmas.
    pub(crate) fn after_includes(&self) -> usize {
        let mut place = 0;
        let mut at = 0;
        let mut depth = 0_i32;
        for line in self.source.split_inclusive('\n') {
            at += line.len();
            let directive = line.trim_start().strip_prefix('#').map(str::trim_start);
            match directive {
                Some(text) if text.starts_with("if") => depth += 1,
                Some(text) if text.starts_with("endif") => depth -= 1,
                Some(text) if text.starts_with("include") && depth == 0 => place = at,
                _ => {}
            }
        }
        place
    }

    /// Pieces that put `before` in front of a statement and close a block behind it, its semicolon
    /// included, so that the statement may stand where only one may.
    pub(crate) fn wrapped(
        &self,
        statement: usize,
        before: &str,
    ) -> Option<Vec<(Range<usize>, String)>> {
        let range = self.range(statement)?;
        let rest = &self.source[range.end..];
        let gap = rest.len() - rest.trim_start().len();
        let end = match rest.trim_start().starts_with(';') {
            true => range.end + gap + 1,
            false => range.end,
        };
        let ends_well = self.source[..end].ends_with([';', '}']);
        ends_well.then(|| {
            vec![(range.start..range.start, format!("{{ {before} ")), (end..end, " }".to_owned())]
        })
    }
}

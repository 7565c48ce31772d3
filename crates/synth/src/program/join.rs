//! Several kernels in one, one behind the other.

use super::{Node, Parameter, Program, Statement, Ty, fit::of_the_other_constness};
use std::collections::{HashMap, HashSet};

impl Program {
    /// A kernel that does what this one does and then what `other` does, with the parameters of both; what `other` names is
    /// called otherwise where it would be in the way. `None` where `other` is more than its kernel, or has local memory that
    /// cannot be told from its text.
    pub(crate) fn followed_by(&self, other: &Program) -> Option<Program> {
        let is_local = |text: &str| text.starts_with("__local ") || text.starts_with("local ");
        let is_unclear = |one: &Statement| matches!(one, Statement::Opaque(text) if is_local(text));
        if !other.is_alone() || other.body.iter().any(is_unclear) {
            return None;
        }
        let mut joined = self.clone();
        // Nothing is reached behind it.
        joined
            .body
            .pop_if(|last| matches!(last, Statement::Opaque(text) if text.trim() == "return;"));
        // Local memory is declared outside of all blocks.
        let is_shared =
            |one: &Statement| matches!(one, Statement::Declare { prefix, .. } if is_local(prefix));
        let (mut shared, mut body): (Vec<Statement>, Vec<Statement>) =
            other.body.iter().cloned().partition(is_shared);
        let declared = shared.iter().filter_map(|one| match one {
            Statement::Declare { name, .. } => Some(name),
            _ => None,
        });
        let in_the_way = other.parameters.iter().map(|one| &one.name).chain(declared);
        let text = other.to_string();
        let words: HashSet<&str> = lexer::tokens(&text).map(|token| token.text).collect();
        let mut names = Names(HashMap::new());
        for name in in_the_way {
            let fresh = loop {
                let fresh = joined.fresh_name();
                if !words.contains(fresh.as_str()) {
                    break fresh;
                }
            };
            names.0.insert(name.clone(), fresh);
        }
        names.rename(&mut shared);
        names.rename(&mut body);
        joined.parameters.extend(other.parameters.iter().map(|one| Parameter {
            text: names.in_text(&one.text),
            name: names.in_text(&one.name),
            ty: one.ty,
        }));
        joined.body.append(&mut shared);
        joined.body.push(Statement::Block(body));
        joined.ancestors.add(&other.ancestors);
        Some(joined)
    }

    /// These kernels one behind the other, as [`Program::followed_by`] joins them, with parameters of these types and no others:
    /// what a kernel uses is one of its type, each as long as there are enough another one. A buffer that is only read may be
    /// `const` or not. `None` where there is none of the type.
    pub(crate) fn in_sequence(kernels: &[&Program], types: &[Ty]) -> Option<Program> {
        let texts: Vec<String> = kernels.iter().map(ToString::to_string).collect();
        let words = texts.iter().flat_map(|text| lexer::tokens(text)).map(|token| token.text);
        let words: HashSet<&str> = words.collect();
        let names = (0_usize..).map(|at| format!("p{at}"));
        let names = names.filter(|name| !words.contains(name.as_str()));
        let asked: Vec<Parameter> = types
            .iter()
            .zip(names)
            .map(|(ty, name)| Parameter { text: format!("{ty} {name}"), name, ty: *ty })
            .collect();
        let mut taken = vec![0; asked.len()];
        let (first, behind) = kernels.split_first()?;
        let mut joined = first.onto(&asked, &mut taken)?;
        joined.parameters.clone_from(&asked);
        for kernel in behind {
            joined = joined.followed_by(&kernel.onto(&asked, &mut taken)?)?;
        }
        Some(joined)
    }

    /// The kernel without parameters: what it uses is one of `asked`, of which so many uses are known of before.
    fn onto(&self, asked: &[Parameter], taken: &mut [usize]) -> Option<Program> {
        let mut program = Program { parameters: Vec::new(), ..self.clone() };
        let text = program.to_string();
        let used: HashSet<&str> = lexer::tokens(&text).map(|token| token.text).collect();
        let only_read = self.only_read();
        let mut own = vec![0; asked.len()];
        let mut names = Names(HashMap::new());
        for one in self.parameters.iter().filter(|one| used.contains(one.name.as_str())) {
            let is_read = matches!(one.ty, Ty::Pointer { constant: true, .. })
                || only_read.contains(&one.name);
            let other = of_the_other_constness(one.ty).filter(|_| is_read);
            let fits =
                |at: &usize| asked[*at].ty == one.ty || other.is_some_and(|ty| asked[*at].ty == ty);
            let place = (0..asked.len())
                .filter(fits)
                .min_by_key(|at| (own[*at], taken[*at], asked[*at].ty != one.ty))?;
            own[place] += 1;
            taken[place] += 1;
            names.0.insert(one.name.clone(), asked[place].name.clone());
        }
        names.rename(&mut program.body);
        Some(program)
    }

    /// Whether there is nothing but its kernel.
    fn is_alone(&self) -> bool {
        let head: Vec<&str> = lexer::tokens(&self.head).map(|token| token.text).collect();
        matches!(head[..], ["__kernel" | "kernel", "void", _, "("]) && self.tail.trim().is_empty()
    }
}

/// Other names for some.
struct Names(HashMap<String, String>);

impl Names {
    /// A text with the others; members of records keep theirs.
    fn in_text(&self, text: &str) -> String {
        let mut made = String::with_capacity(text.len());
        let (mut end, mut before) = (0, "");
        for token in lexer::tokens(text) {
            made.push_str(&text[end..token.begin]);
            let other = self.0.get(token.text).filter(|_| ![".", "->"].contains(&before));
            made.push_str(other.map_or(token.text, String::as_str));
            (end, before) = (token.end(), token.text);
        }
        made.push_str(&text[end..]);
        made
    }

    fn rename(&self, list: &mut [Statement]) {
        for statement in list.iter_mut() {
            statement.each_expression(&mut |expression| match &mut expression.node {
                Node::Name(text) | Node::Opaque(text) => *text = self.in_text(text),
                _ => {}
            });
        }
        self.rename_declared(list);
    }

    /// What is no expression: what declares variables, and statements that are known by their text alone.
    fn rename_declared(&self, list: &mut [Statement]) {
        for statement in list {
            match statement {
                Statement::Declare { prefix, name, .. } => {
                    *prefix = self.in_text(prefix);
                    *name = self.in_text(name);
                }
                Statement::Opaque(text) => *text = self.in_text(text),
                Statement::Evaluate(_) => {}
                Statement::If { then, otherwise, .. } => {
                    self.rename_declared(then);
                    self.rename_declared(otherwise.as_deref_mut().unwrap_or_default());
                }
                Statement::For { start, body, .. } => {
                    if let Some(start) = start {
                        self.rename_declared(std::slice::from_mut(&mut **start));
                    }
                    self.rename_declared(body);
                }
                Statement::While { body, .. }
                | Statement::Do { body, .. }
                | Statement::Block(body) => self.rename_declared(body),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Arguments, Judge, program::Program};

    #[test]
    fn kernels_are_joined_with_the_parameters_of_both() {
        let judge = Judge::new(features::space("instcount").expect("registered"), 1)
            .unwrap_or_else(|error| panic!("{error}"));
        let first = "__kernel void A(__global float* a, int b) {\n  int c = get_global_id(0);\n  if (c < b) {\n    a[c] = a[c] * 2.0f;\n  }\n  return;\n}\n";
        let second = "kernel void B(global float* a, local float* restrict p2) {\n  local float c[4], d;\n  c[0] = a[1];\n}\n";
        let third = "kernel void B(global float* a, global int* p2) {\n  local float c[64];\n  int b = get_local_id(0);\n  c[b] = a[b];\n  \
                     barrier(CLK_LOCAL_MEM_FENCE);\n  int i = 1, j = p2[b];\n  a[b] = c[i] + j;\n}\n";
        let read = |text: &str| judge.read_one(text).expect("a kernel");
        assert_eq!(read(first).followed_by(&read(second)), None);
        let helper = format!("float f(float a) {{ return a; }}\n{third}");
        assert_eq!(read(first).followed_by(&read(&helper)), None);
        let joined = read(first).followed_by(&read(third)).expect("they fit").to_string();
        for part in [
            "int b, global float* p3, global int* p4) {",
            "local float p5[64];",
            "p5[b] = p3[b];",
            "j = p4[b]",
        ] {
            assert!(joined.contains(part), "{part}: {joined}");
        }
        assert!(!joined.contains("return;"), "{joined}");
        let vectors = judge.judge(&[first, third, joined.as_str()]).expect("LLVM is here");
        let [one, other, both] = &vectors[..] else { panic!("three texts") };
        let [one, other, both] = [one, other, both].map(|vector| vector.clone().expect("compiles"));
        let stores = judge.space().dimensions().iter().position(|name| *name == "Store");
        let stores = stores.expect("there");
        assert_eq!(both[stores], one[stores] + other[stores]);
    }

    #[test]
    fn kernels_are_joined_on_the_parameters_that_are_asked_for() {
        let judge = Judge::new(features::space("instcount").expect("registered"), 1)
            .unwrap_or_else(|error| panic!("{error}"));
        let first = "__kernel void A(__global float* a, __global const float* b, float c) {\n  a[0] = b[1] * c;\n}\n";
        let second = "__kernel void A(__global float* a, __global float* p1, int c) {\n  int p0 = 3;\n  a[p0] = p1[2];\n}\n";
        let read = |text: &str| judge.read_one(text).expect("a kernel");
        let (first, second) = (read(first), read(second));
        let joined = |types: &str| {
            let wanted: Arguments = types.parse().expect("types");
            let joined = Program::in_sequence(&[&first, &second], wanted.types())?;
            let text = joined.to_string();
            assert!(wanted.are_of(&text), "{text}");
            // It stays as it is where answers are held to their parameters.
            assert_eq!(joined.with_parameters(wanted.types()), Some(joined));
            Some(text)
        };
        // Of the second nothing is an `int`; names that either has are none of the parameters'.
        let text = joined("global float*, float, global float*").expect("there is room");
        for part in ["p2[0] = p4[1] * p3;", "int p0 = 3;", "p2[p0] = p4[2];"] {
            assert!(text.contains(part), "{part}: {text}");
        }
        let text = joined("global const float*, float, global float*").expect("one is only read");
        for part in ["p4[0] = p2[1] * p3;", "p4[p0] = p2[2];"] {
            assert!(text.contains(part), "{part}: {text}");
        }
        // Two buffers share the one that there is.
        let text = joined("float, global float*").expect("they may be one");
        assert!(text.contains("p3[0] = p3[1] * p2;"), "{text}");
        for types in ["global float*, global float*", "float, global int*", "float, local float*"] {
            assert_eq!(joined(types), None, "{types}");
        }
    }
}

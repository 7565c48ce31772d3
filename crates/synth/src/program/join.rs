//! Several kernels in one: one behind the other, in the branches of a condition, in a loop, or as functions that are called.

mod carried;
mod control;
mod names;
mod outlined;

pub(crate) use carried::is_joinable;

use super::{Parameter, Program, Statement, Ty, fit::of_the_other_constness};
use crate::edit::Rng;
use names::Names;
use rand::Rng as _;
use std::collections::{HashMap, HashSet};

/// How a kernel is joined to what stands in front of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Join {
    /// Behind it.
    Sequence,
    /// In the other branch: a condition decides which of the two is done.
    Branch,
    /// Behind it in a loop, as often as a parameter says.
    Loop,
    /// Behind it as a function that is called.
    Helper,
}

impl Join {
    /// All but the sequence.
    const OTHERS: [Join; 3] = [Join::Branch, Join::Loop, Join::Helper];

    /// A sequence half of the time, whose vector is nearest to the sum of both; else one of the others.
    pub(crate) fn drawn(rng: &mut Rng) -> Join {
        if rng.random_bool(0.5) {
            return Join::Sequence;
        }
        Join::OTHERS[rng.random_range(0..Join::OTHERS.len())]
    }
}

/// What is taken over from a kernel, called so that it is in nothing's way.
struct Fitted {
    /// The functions in front of it, as text.
    functions: String,
    parameters: Vec<Parameter>,
    /// What has to stand outside of all blocks.
    shared: Vec<Statement>,
    body: Vec<Statement>,
    /// What stood in it, under the names that it had.
    words: HashSet<String>,
}

impl Program {
    /// These kernels in one. Each but the first is joined to those before as `joins` says, which has one for each of them, and
    /// in sequence where it cannot be so. The parameters are those of all, or, where there are `types`, of these types and no
    /// others: what a kernel uses is one of its type, each as long as there are enough another one; a buffer that is only read
    /// may be `const` or not. `None` where there is none of the type, and where [`Program::followed_by`] gives none.
    pub(crate) fn joined(
        kernels: &[&Program],
        joins: &[Join],
        types: &[Ty],
        rng: &mut Rng,
    ) -> Option<Program> {
        let (first, behind) = kernels.split_first()?;
        if types.is_empty() {
            let first = Program::clone(first);
            return behind.iter().zip(joins).try_fold(first, |joined, (kernel, join)| {
                joined.joined_to(kernel, *join, false, rng)
            });
        }
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
        let mut joined = first.onto(&asked, &mut taken)?;
        joined.parameters.clone_from(&asked);
        for (kernel, join) in behind.iter().zip(joins) {
            joined = joined.joined_to(&kernel.onto(&asked, &mut taken)?, *join, true, rng)?;
        }
        Some(joined)
    }

    /// A kernel that does what both do, joined in this way or, where that cannot be, in sequence. With `is_fixed` both are on
    /// the parameters of this one, and it gets no others.
    fn joined_to(
        &self,
        other: &Program,
        join: Join,
        is_fixed: bool,
        rng: &mut Rng,
    ) -> Option<Program> {
        let joined = match join {
            Join::Sequence => None,
            Join::Branch => self.branching_to(other, is_fixed, rng),
            Join::Loop => self.repeating(other, is_fixed, rng),
            Join::Helper => self.calling(other, is_fixed),
        };
        joined.or_else(|| self.followed_by(other))
    }

    /// A kernel that does what this one does and then what `other` does, with the parameters of both; what `other` names is
    /// called otherwise where it would be in the way, and functions in front of it come along. `None` where there is more
    /// than these, or local memory that cannot be told from its text.
    pub(crate) fn followed_by(&self, other: &Program) -> Option<Program> {
        let mut joined = self.clone();
        let fitted = joined.fitted(other)?;
        joined.take_in(other, &fitted);
        end_reached(&mut joined.body);
        joined.body.extend(fitted.shared);
        joined.body.push(Statement::Block(fitted.body));
        Some(joined)
    }

    /// What is taken over from `other`, under names that neither has.
    fn fitted(&mut self, other: &Program) -> Option<Fitted> {
        let (functions, begin) = other.functions()?;
        let is_unclear = |one: &Statement| matches!(one, Statement::Opaque(_)) && is_outermost(one);
        if other.body.iter().any(is_unclear) {
            return None;
        }
        let (mut shared, mut body): (Vec<Statement>, Vec<Statement>) =
            other.body.iter().cloned().partition(is_outermost);
        end_reached(&mut body);
        let declared = shared.iter().filter_map(|one| match one {
            Statement::Declare { name, .. } => Some(name),
            _ => None,
        });
        let words = words(&other.to_string());
        let mut names = Names(HashMap::new());
        for name in functions {
            names.add(name, || self.name_beside(&words));
        }
        // What its own variables are called says nothing of the variables of functions.
        let functions = names.in_text(&other.head[..begin]);
        for name in other.parameters.iter().map(|one| &one.name).chain(declared) {
            names.add(name, || self.name_beside(&words));
        }
        names.rename(&mut shared);
        names.rename(&mut body);
        let parameters = other.parameters.iter().map(|one| Parameter {
            text: names.in_text(&one.text),
            name: names.in_text(&one.name),
            ty: one.ty,
        });
        Some(Fitted { functions, parameters: parameters.collect(), shared, body, words })
    }

    /// Takes over what stands outside of the kernel's body.
    fn take_in(&mut self, other: &Program, fitted: &Fitted) {
        self.head.insert_str(0, &fitted.functions);
        self.parameters.extend(fitted.parameters.iter().cloned());
        self.ancestors.add(&other.ancestors);
    }

    /// A name that nothing in the program has, and none of these words is.
    fn name_beside(&mut self, words: &HashSet<String>) -> String {
        loop {
            let name = self.fresh_name();
            if !words.contains(&name) {
                return name;
            }
        }
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
}

/// Whether it declares local memory, which stands outside of all blocks; pointers to it do not.
fn is_outermost(statement: &Statement) -> bool {
    let (Statement::Declare { prefix: text, .. } | Statement::Opaque(text)) = statement else {
        return false;
    };
    let is_local = text.starts_with("__local ") || text.starts_with("local ");
    // In the size of an array a star is a product.
    is_local && text.split('[').next().is_some_and(|front| !front.contains('*'))
}

/// Takes a last `return;` away: what comes behind is reached.
fn end_reached(body: &mut Vec<Statement>) {
    body.pop_if(|last| matches!(last, Statement::Opaque(text) if text.trim() == "return;"));
}

fn words(text: &str) -> HashSet<String> {
    lexer::tokens(text).map(|token| token.text.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Arguments, Judge};
    use rand::SeedableRng;

    pub(super) const FIRST: &str = "__kernel void A(__global float* a, int b) {\n  int c = get_global_id(0);\n  if (c < b) {\n    a[c] = a[c] * 2.0f;\n  }\n  return;\n}\n";
    pub(super) const SECOND: &str = "kernel void B(global float* a, global int* p2) {\n  local float c[64];\n  int b = get_local_id(0);\n  c[b] = a[b];\n  \
                                     int i = 1, j = p2[b];\n  a[b] = c[i] + j;\n}\n";

    pub(super) fn judge() -> Judge {
        Judge::new(features::space("instcount").expect("registered"), 1)
            .unwrap_or_else(|error| panic!("{error}"))
    }

    pub(super) fn read(judge: &Judge, text: &str) -> Program {
        judge.read_one(text).expect("a kernel")
    }

    /// The kernels joined so, which compiles and is the same for the same random numbers.
    pub(super) fn joined(
        judge: &Judge,
        texts: &[&str],
        join: Join,
        types: &str,
        seed: u64,
    ) -> Option<String> {
        let all: Vec<Program> = texts.iter().map(|text| read(judge, text)).collect();
        let all: Vec<&Program> = all.iter().collect();
        let types: Option<Arguments> = (!types.is_empty()).then(|| types.parse().expect("types"));
        let types = types.as_ref().map(Arguments::types).unwrap_or_default();
        let make = || {
            let mut rng = Rng::seed_from_u64(seed);
            Program::joined(&all, &vec![join; texts.len() - 1], types, &mut rng)
        };
        let text = make()?.to_string();
        assert_eq!(make().map(|again| again.to_string()).as_ref(), Some(&text));
        let vector = judge.judge(&[&text]).expect("LLVM is here").pop().flatten();
        assert!(vector.is_some(), "it compiles: {text}");
        assert!(judge.read_one(&text).is_some(), "it is read: {text}");
        Some(text)
    }

    #[test]
    fn kernels_are_joined_with_the_parameters_of_both() {
        let judge = judge();
        let read = |text: &str| read(&judge, text);
        let unclear = "kernel void B(global float* a, local float* restrict p2) {\n  local float c[4], d;\n  c[0] = a[1];\n}\n";
        let waits = SECOND.replace("  int i", "  barrier(CLK_LOCAL_MEM_FENCE);\n  int i");
        assert_eq!(read(FIRST).followed_by(&read(unclear)), None);
        let record = format!("typedef struct {{ int a; }} T;\n{SECOND}");
        assert_eq!(read(FIRST).followed_by(&read(&record)), None);
        let joined = read(FIRST).followed_by(&read(&waits)).expect("they fit").to_string();
        for part in [
            "int b, global float* p3, global int* p4) {",
            "local float p5[64];",
            "p5[b] = p3[b];",
            "j = p4[b]",
        ] {
            assert!(joined.contains(part), "{part}: {joined}");
        }
        assert!(!joined.contains("return;"), "{joined}");
        let vectors = judge.judge(&[FIRST, &waits, joined.as_str()]).expect("LLVM is here");
        let [one, other, both] = &vectors[..] else { panic!("three texts") };
        let [one, other, both] = [one, other, both].map(|vector| vector.clone().expect("compiles"));
        let stores = judge.space().dimensions().iter().position(|name| *name == "Store");
        let stores = stores.expect("there");
        assert_eq!(both[stores], one[stores] + other[stores]);
    }

    #[test]
    fn functions_come_along_under_other_names() {
        let judge = judge();
        let with = |kernel: &str| {
            let kernel = kernel.replace("2.0f", "f(2.0f)").replace("c[i] +", "f(c[i]) +");
            format!(
                "float f(float a);\nstatic float g(float f) {{ return f; }}\nfloat f(float a) {{ return g(a) * a; }}\n{kernel}"
            )
        };
        let (first, second) = (with(FIRST), with(SECOND));
        for join in [Join::Sequence, Join::Branch, Join::Loop, Join::Helper] {
            let text =
                joined(&judge, &[first.as_str(), second.as_str(), first.as_str()], join, "", 1)
                    .expect("they fit");
            for word in [" f(float a)", " g(float f)"] {
                assert_eq!(text.matches(word).count(), with("").matches(word).count(), "{text}");
            }
            assert!(text.contains("a[c] = a[c] * f(2.0f);"), "{text}");
        }
    }

    #[test]
    fn all_joins_of_several_kernels_compile() {
        let judge = judge();
        let third = "kernel void A(global float* b, const uint n, long p3) {\n  for (int p2 = 0; p2 < n; p2++) {\n    if (b[p2] > p3) {\n      return;\n    }\n    b[p2] += 1.0f;\n  }\n}\n";
        let pointer = "kernel void A(global int* a) {\n  local int b[4];\n  int c = get_local_id(0);\n  local int* d = &b[c];\n  *d = a[c];\n  a[c] = d[0];\n}\n";
        for seed in 0..4 {
            for join in [Join::Sequence, Join::Branch, Join::Loop, Join::Helper] {
                for texts in [[FIRST, SECOND, third, pointer], [pointer, third, SECOND, FIRST]] {
                    let text = joined(&judge, &texts, join, "", seed);
                    assert!(text.is_some(), "{join:?}");
                    let types = "global float*, uint, global int*, int, long";
                    let text = joined(&judge, &texts, join, types, seed).expect("there is room");
                    let wanted: Arguments = types.parse().expect("types");
                    assert!(wanted.are_of(&text), "{text}");
                }
            }
        }
    }

    #[test]
    fn kernels_are_joined_on_the_parameters_that_are_asked_for() {
        let judge = judge();
        let first = "__kernel void A(__global float* a, __global const float* b, float c) {\n  a[0] = b[1] * c;\n}\n";
        let second = "__kernel void A(__global float* a, __global float* p1, int c) {\n  int p0 = 3;\n  a[p0] = p1[2];\n}\n";
        let (first, second) = (read(&judge, first), read(&judge, second));
        let joined = |types: &str| {
            let wanted: Arguments = types.parse().expect("types");
            let mut rng = Rng::seed_from_u64(1);
            let kernels = [&first, &second];
            let joined = Program::joined(&kernels, &[Join::Sequence], wanted.types(), &mut rng)?;
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

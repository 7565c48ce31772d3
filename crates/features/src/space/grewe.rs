use super::{Extracted, FeatureSpace};
use crate::{Part, ProgramView, syntax::Syntax};
use clang::Tree;
use std::collections::HashSet;

/// The static features of Grewe, Wang and O'Boyle (CGO 2013) as the extractor of CLgen 0.1.7
/// computes them, quirks included: the values of the published tables.
///
/// A vector belongs to every *function* with a body and a parameter whose printed type contains
/// `__global`, kernel or not. The original walks declarations in the order of the source and adds
/// what it meets to the function it entered last, so:
/// - what stands at file scope behind a function (a table's size, an enumerator) counts for that
///   function, and a prototype inside a body takes all that follows;
/// - a call adds the counters that a function seen before has *so far*; one defined later adds
///   nothing, a recursive call doubles. Functions are told apart by name alone, and `exp`, `log`
///   and `sqrt` are functions of 15 operations;
/// - *mem* counts every use of the *name* of a `__global` or `__local` parameter or a `__local`
///   variable, whatever it means at that place: `a[i] += x` once, an unused `a;` once, a shadowing
///   private variable too, but no pointer derived from it;
/// - *coalesced* and *localmem* look at subscripts whose base is an implicit conversion directly
///   over a name: `a[i]`, not `(a + 1)[i]`, `s->a[i]` or the second subscript of `a[i][j]`;
/// - `+=`, `++`, unary and logical operators are no operations, `<<=` and `>>=` are;
/// - an initializer list is visited twice, as written and as understood, at every level.
///
/// Types are looked at as printed, typedefs unexpanded: a parameter of a typedef of
/// `__global float *` is not global.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grewe;

/// Names of the columns, in the order of the published tables.
pub(super) const DIMENSIONS: [&str; 8] = [
    "comp",
    "rational",
    "mem",
    "localmem",
    "coalesced",
    "atomic",
    "F2:coalesced/mem",
    "F4:comp/mem",
];

/// Calls that count as atomic operations.
const ATOMICS: [&str; 41] = [
    "atomic_add",
    "atomic_and",
    "atomic_cmpxchg",
    "atomic_compare_exchange_strong",
    "atomic_compare_exchange_strong_explicit",
    "atomic_compare_exchange_weak",
    "atomic_compare_exchange_weak_explicit",
    "atomic_dec",
    "atomic_exchange",
    "atomic_exchange_explicit",
    "atomic_fetch_add",
    "atomic_fetch_add_explicit",
    "atomic_fetch_and",
    "atomic_fetch_and_explicit",
    "atomic_fetch_max",
    "atomic_fetch_max_explicit",
    "atomic_fetch_min",
    "atomic_fetch_min_explicit",
    "atomic_fetch_or",
    "atomic_fetch_or_explicit",
    "atomic_fetch_sub",
    "atomic_fetch_sub_explicit",
    "atomic_fetch_xor",
    "atomic_fetch_xor_explicit",
    "atomic_flag_clear",
    "atomic_flag_clear_explicit",
    "atomic_flag_test_and_set",
    "atomic_flag_test_and_set_explicit",
    "atomic_inc",
    "atomic_init",
    "atomic_load",
    "atomic_load_explicit",
    "atomic_max",
    "atomic_min",
    "atomic_or",
    "atomic_store",
    "atomic_store_explicit",
    "atomic_sub",
    "atomic_work_item_fence",
    "atomic_xchg",
    "atomic_xor",
];

/// Functions that stand for as many operations.
const ROUTINES: [&str; 3] = ["exp", "log", "sqrt"];
const ROUTINE_OPERATIONS: u64 = 15;

/// Visits of a node in initializer lists within each other double this often at most.
const DOUBLINGS: u32 = 16;

impl FeatureSpace for Grewe {
    fn name(&self) -> &'static str {
        "grewe"
    }

    fn dimensions(&self) -> Vec<&'static str> {
        DIMENSIONS.to_vec()
    }

    fn follows(&self) -> &'static [&'static str] {
        &["F2:coalesced/mem", "F4:comp/mem"]
    }

    fn complete(&self, vector: &mut [f64]) {
        complete(vector);
    }

    fn parts(&self) -> &'static [Part] {
        &[Part::Tree]
    }

    fn is_of_kernels(&self) -> bool {
        true
    }

    fn extract(&self, program: &ProgramView<'_>) -> Option<Extracted> {
        Some(Extracted::Functions(walk(program.tree?)))
    }
}

/// The six counters of a function.
#[derive(Clone, Copy, Default)]
pub(super) struct Counters {
    pub(super) comp: u64,
    pub(super) rational: u64,
    pub(super) mem: u64,
    pub(super) localmem: u64,
    pub(super) coalesced: u64,
    pub(super) atomic: u64,
}

impl Counters {
    pub(super) fn add(&mut self, other: Counters) {
        self.comp = self.comp.saturating_add(other.comp);
        self.rational = self.rational.saturating_add(other.rational);
        self.mem = self.mem.saturating_add(other.mem);
        self.localmem = self.localmem.saturating_add(other.localmem);
        self.coalesced = self.coalesced.saturating_add(other.coalesced);
        self.atomic = self.atomic.saturating_add(other.atomic);
    }

    /// The counters and the two ratios.
    pub(super) fn vector(self) -> Vec<f64> {
        let counts =
            [self.comp, self.rational, self.mem, self.localmem, self.coalesced, self.atomic];
        let mut vector: Vec<f64> = counts.iter().map(|count| *count as f64).collect();
        vector.extend(ratios(self.comp, self.mem, self.coalesced));
        vector
    }
}

/// The two ratios computed anew.
pub(super) fn complete(vector: &mut [f64]) {
    if let [comp, _, mem, _, coalesced, _, f2, f4] = vector {
        [*f2, *f4] = ratios(*comp as u64, *mem as u64, *coalesced as u64);
    }
}

/// F2 and F4.
fn ratios(comp: u64, mem: u64, coalesced: u64) -> [f64; 2] {
    [ratio(coalesced, mem), ratio(comp, mem)]
}

/// A quotient in single precision with the denominator at least 1, printed with three significant
/// digits and read back.
fn ratio(numerator: u64, denominator: u64) -> f64 {
    let quotient = f64::from(numerator as f32 / denominator.max(1) as f32);
    format!("{quotient:.2e}").parse().expect("a number that was just printed")
}

/// A function that the walk entered.
#[derive(Default)]
struct Visited<'a> {
    name: &'a str,
    counters: Counters,
    /// Names whose uses are memory accesses.
    memory: Vec<&'a str>,
    /// Whether a parameter's type says `__global`.
    global: bool,
    /// Whether later calls find it: it has a body.
    listed: bool,
}

fn walk(tree: &Tree) -> Vec<(String, Vec<f64>)> {
    let mut visited: Vec<Visited<'_>> = ROUTINES
        .iter()
        .map(|name| Visited {
            name,
            counters: Counters { comp: ROUTINE_OPERATIONS, ..Counters::default() },
            listed: true,
            ..Visited::default()
        })
        .collect();
    let routines = visited.len();
    let mut defined: HashSet<(&str, &str)> = HashSet::new();
    // Where the initializer lists around the current node end.
    let mut lists: Vec<usize> = Vec::new();
    for node in Syntax::all(tree) {
        while lists.last().is_some_and(|end| *end <= node.index) {
            lists.pop();
        }
        let times = 1 << u32::try_from(lists.len()).unwrap_or(u32::MAX).min(DOUBLINGS);
        match node.kind() {
            "FunctionDecl" => {
                // A declaration that follows the definition has a body as well, as clang sees it.
                let has_body =
                    node.has_body() || defined.contains(&(node.text(), node.type_name()));
                if has_body {
                    defined.insert((node.text(), node.type_name()));
                }
                visited.push(enter(node, has_body));
            }
            "InitListExpr" => lists.push(node.end()),
            _ if visited.len() == routines => {}
            _ => count(node, times, &mut visited),
        }
    }
    visited
        .into_iter()
        .filter(|function| function.listed && function.global)
        .map(|function| (function.name.to_owned(), function.counters.vector()))
        .collect()
}

fn enter(function: Syntax<'_>, listed: bool) -> Visited<'_> {
    let mut entered = Visited { name: function.text(), listed, ..Visited::default() };
    for parameter in function.children().filter(|child| child.kind() == "ParmVarDecl") {
        if parameter.type_name().contains("__global") {
            entered.global = true;
            entered.memory.push(parameter.text());
        } else if parameter.type_name().contains("__local") {
            entered.memory.push(parameter.text());
        }
    }
    entered
}

/// Add what `node`, visited so many `times`, means to the function entered last.
fn count<'a>(node: Syntax<'a>, times: u64, visited: &mut [Visited<'a>]) {
    let Some((current, earlier)) = visited.split_last_mut() else { return };
    let counters = &mut current.counters;
    match node.kind() {
        "BinaryOperator" | "CompoundAssignOperator" => match node.text() {
            "<" | ">" | "<=" | ">=" | "==" | "!=" => counters.rational += times,
            "*" | "/" | "%" | "+" | "-" | "<<" | ">>" | "&" | "|" | "^" | "<<=" | ">>=" => {
                counters.comp += times;
            }
            _ => {}
        },
        "DeclRefExpr" if current.memory.contains(&node.text()) => counters.mem += times,
        "VarDecl" if node.type_name().contains("__local") => current.memory.push(node.text()),
        "ArraySubscriptExpr" => match base_type(node) {
            Some(printed) if printed.contains("__global") => {
                counters.coalesced += times * u64::from(is_coalesced(node));
            }
            Some(printed) if printed.contains("__local") => counters.localmem += times,
            _ => {}
        },
        "CallExpr" => match node.callee() {
            Some(name) if ATOMICS.contains(&name) => counters.atomic += times,
            Some("barrier") | None => {}
            Some(name) => {
                let seen = earlier.iter().find(|function| function.listed && function.name == name);
                for _ in 0..times {
                    let so_far = match seen {
                        Some(function) => function.counters,
                        None if current.listed && current.name == name => current.counters,
                        None => break,
                    };
                    current.counters.add(so_far);
                }
            }
        },
        _ => {}
    }
}

/// The printed type of a subscript's base, where that is an implicit conversion over a name.
fn base_type(subscript: Syntax<'_>) -> Option<&str> {
    let conversion = subscript.child(0).filter(|base| base.kind() == "ImplicitCastExpr")?;
    let name = conversion.child(0).filter(|inner| inner.kind() == "DeclRefExpr")?;
    Some(name.type_name())
}

fn is_coalesced(subscript: Syntax<'_>) -> bool {
    let mut subscript = subscript;
    loop {
        let Some(index) = subscript.child(1) else { return true };
        match index.kind() {
            "CallExpr" => return false,
            "ArraySubscriptExpr" => subscript = index,
            _ if index.is_binary() => {
                return matches!(index.text(), "*" | "/" | "%" | "+" | "-") && is_step(index);
            }
            _ => return true,
        }
    }
}

/// Whether an operand is a literal 0 or 1, or both are literals; a converted literal is none.
fn is_step(operator: Syntax<'_>) -> bool {
    let literals: Vec<Option<&str>> = operator
        .children()
        .map(|operand| (operand.kind() == "IntegerLiteral").then(|| operand.text()))
        .collect();
    literals.iter().all(Option::is_some)
        || literals.iter().any(|literal| matches!(literal, Some("0" | "1")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_have_three_significant_digits_and_ties_go_to_even() {
        assert_eq!(ratio(2, 3), 0.667);
        assert_eq!(ratio(1000, 3), 333.0);
        assert_eq!(ratio(9, 8), 1.12);
        assert_eq!(ratio(11, 8), 1.38);
        assert_eq!(ratio(5, 0), 5.0);
        assert_eq!(ratio(12345, 1), 12300.0);
    }
}

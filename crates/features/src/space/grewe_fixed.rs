use super::{
    Extracted, FeatureSpace,
    grewe::{Counters, DIMENSIONS, complete},
    stride::Strides,
};
use crate::{Part, ProgramView, syntax::Syntax};
use std::collections::{BTreeMap, HashSet};

/// The features of Grewe, Wang and O'Boyle (CGO 2013, table 1) as the paper words them, where the
/// original extractor ([`grewe`](super::grewe::Grewe)) does something else:
///
/// | column | here | original |
/// |---|---|---|
/// | rows | every kernel with a body | every function with a `__global` parameter |
/// | all | a call adds what the callee does in all, wherever it is defined; recursion counts once | what was seen of it so far |
/// | *comp* | also `+= -= *= /= %= &= |= ^=`, `++`, `--`, unary `-` and `~`; `mad` and `fma` are 2, every transcendental function 15 | binary operators; `exp`, `log`, `sqrt` |
/// | *mem* | subscripts, dereferences, `vload` and `vstore` of global memory, through whatever pointer | uses of names of global and local parameters |
/// | *localmem* | the same of local memory | subscripts directly over a name |
/// | *coalesced* | accesses to global memory whose index differs by at most 1 between neighbours in dimension 0 | index of a simple form |
/// | *atomic* | also `atom_*`, no fences | `atomic_*` |
///
/// An access that reads and writes (`a[i] += x`) counts once, what stands at file scope never,
/// initializer lists once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GreweFixed;

const TRANSCENDENTAL: [&str; 30] = [
    "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "cos", "cosh", "erf",
    "erfc", "exp", "exp10", "exp2", "expm1", "lgamma", "log", "log10", "log1p", "log2", "pow",
    "pown", "powr", "rsqrt", "sin", "sinh", "sqrt", "tan", "tanh",
];
const TRANSCENDENTAL_OPERATIONS: u64 = 15;

impl FeatureSpace for GreweFixed {
    fn name(&self) -> &'static str {
        "grewe-fixed"
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
        let mut functions = BTreeMap::new();
        for root in Syntax::roots(program.tree?) {
            if root.kind() == "FunctionDecl" && root.has_body() {
                functions.entry(root.text()).or_insert_with(|| Work::of(root));
            }
        }
        let mut totals = BTreeMap::new();
        let kernels = program.kernels.iter().filter(|name| functions.contains_key(name.as_str()));
        let vectors = kernels
            .map(|name| (name.clone(), total(name.as_str(), &functions, &mut totals).vector()));
        Some(Extracted::Functions(vectors.collect()))
    }
}

/// What a function does itself, and whom it calls.
struct Work<'a> {
    own: Counters,
    calls: Vec<&'a str>,
}

/// With all callees, each call anew, but none within itself.
fn total<'a>(
    name: &'a str,
    functions: &BTreeMap<&'a str, Work<'a>>,
    totals: &mut BTreeMap<&'a str, Counters>,
) -> Counters {
    if let Some(known) = totals.get(name) {
        return *known;
    }
    let Some(work) = functions.get(name) else { return Counters::default() };
    // A call from within finds this.
    totals.insert(name, Counters::default());
    let mut all = work.own;
    for callee in &work.calls {
        all.add(total(callee, functions, totals));
    }
    totals.insert(name, all);
    all
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Memory {
    Global,
    Local,
}

impl<'a> Work<'a> {
    fn of(function: Syntax<'a>) -> Work<'a> {
        let strides = Strides::of(function);
        let mut work = Work { own: Counters::default(), calls: Vec::new() };
        // Operands of `&` are not accessed.
        let mut addressed = HashSet::new();
        for node in function.subtree() {
            match node.kind() {
                "BinaryOperator" | "CompoundAssignOperator" => match node.text() {
                    "<" | ">" | "<=" | ">=" | "==" | "!=" => work.own.rational += 1,
                    "=" | "," | "&&" | "||" => {}
                    _ => work.own.comp += 1,
                },
                "UnaryOperator" => match node.text() {
                    "++" | "--" | "post++" | "post--" | "-" | "~" => work.own.comp += 1,
                    "&" => {
                        addressed.extend(node.child(0).map(|operand| operand.bare().index));
                    }
                    "*" if !addressed.contains(&node.index) => {
                        work.access(node, node.child(0), &strides);
                    }
                    _ => {}
                },
                "ArraySubscriptExpr" if !addressed.contains(&node.index) => {
                    work.access(node, node.child(1), &strides);
                }
                "CallExpr" => work.call(node, &strides),
                _ => {}
            }
        }
        work
    }

    fn access(&mut self, place: Syntax<'_>, index: Option<Syntax<'_>>, strides: &Strides<'_>) {
        let printed = place.type_name();
        // A row of a matrix is no access; its element is.
        if !printed.ends_with(']') {
            self.add_access(outermost(printed), index, strides);
        }
    }

    fn add_access(
        &mut self,
        memory: Option<Memory>,
        index: Option<Syntax<'_>>,
        strides: &Strides<'_>,
    ) {
        match memory {
            Some(Memory::Global) => {
                self.own.mem += 1;
                let coalesced = index.is_some_and(|index| strides.is_coalesced(index));
                self.own.coalesced += u64::from(coalesced);
            }
            Some(Memory::Local) => self.own.localmem += 1,
            None => {}
        }
    }

    fn call(&mut self, call: Syntax<'a>, strides: &Strides<'_>) {
        let Some(name) = call.callee() else { return };
        let plain = name.strip_prefix("native_").or_else(|| name.strip_prefix("half_"));
        if TRANSCENDENTAL.contains(&plain.unwrap_or(name)) {
            self.own.comp += TRANSCENDENTAL_OPERATIONS;
        } else if matches!(name, "fma" | "mad") {
            self.own.comp += 2;
        } else if name.starts_with("atomic_") || name.starts_with("atom_") {
            let fence = name == "atomic_work_item_fence" || name == "atomic_init";
            self.own.atomic += u64::from(!fence);
        } else if let Some(offset) = vector_access(name) {
            let pointer = call.child(offset + 1).map(|pointer| pointer.bare().type_name());
            let pointee = pointer.and_then(|printed| printed.rsplit_once('*'));
            let memory = pointee.and_then(|(pointee, _)| outermost(pointee));
            self.add_access(memory, call.child(offset), strides);
        } else {
            self.calls.push(name);
        }
    }
}

/// The address space in which a value of this printed type lies.
fn outermost(printed: &str) -> Option<Memory> {
    let own = printed.rsplit('*').next().unwrap_or(printed);
    if own.contains("__global") {
        Some(Memory::Global)
    } else if own.contains("__local") {
        Some(Memory::Local)
    } else {
        None
    }
}

/// Where the offset stands among the children of a call of `vload` or `vstore` and its kin; the
/// pointer follows it.
fn vector_access(name: &str) -> Option<usize> {
    let load = name.starts_with("vload");
    let store = name.starts_with("vstore");
    match (load, store) {
        (true, _) => Some(1),
        (_, true) => Some(2),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_space_of_a_value_is_the_outermost_one_of_its_type() {
        assert!(outermost("__global float") == Some(Memory::Global));
        assert!(outermost("const __local int4") == Some(Memory::Local));
        assert!(outermost("__global float *__private").is_none());
        assert!(outermost("__global float *__local") == Some(Memory::Local));
        assert!(outermost("float").is_none());
    }
}

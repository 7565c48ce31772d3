//! Which kernels may race with some arguments, by how the places look where their work-items access global memory.

use super::{Expression, Node, Program, Statement, Ty, own::View};
use std::collections::{BTreeMap, HashMap, HashSet};

/// What tells work-items apart, in each of three dimensions: their group, and their place in it.
const ALL: u8 = 0b111_111;

/// Functions of an id that are no id, and operators that leave half of one.
const NO_ID: [&str; 3] = ["min", "max", "clamp"];
const HALVES: [&str; 4] = ["%", "&", "/", ">>"];

/// Parts of a place that are looked at, at most.
const PARTS: usize = 1024;

impl Program {
    /// Whether two work-items may access one element of a global buffer, one of them writing it: where a buffer is written each of
    /// its accesses needs the same place, told apart by the work-item's ids, or one work-item alone does all of them. Atomic
    /// accesses, other pointers than parameters, and statements that are kept as text are not looked at.
    pub(crate) fn may_race(&self) -> bool {
        let mut reader = Reader::of(self);
        self.body.iter().for_each(|one| reader.statement(one, false));
        let waits = lexer::tokens(&self.to_string()).any(|token| token.text.ends_with("barrier"));
        reader.accesses.values().any(|all| {
            // Which of several places are accessed before a barrier is for what executes the kernel.
            let may_meet = |one: &Access| match &one.place {
                None => !(waits && one.is_of_one),
                place => !waits && *place != all[0].place,
            };
            all.iter().any(|one| one.is_write)
                && !all.iter().all(|one| one.is_of_one)
                && all.iter().any(may_meet)
        })
    }
}

/// An access of global memory.
struct Access {
    is_write: bool,
    /// Whether one work-item alone does it.
    is_of_one: bool,
    /// The terms of its place; `None` where that does not tell work-items apart.
    place: Option<Vec<String>>,
}

/// A place, taken apart.
#[derive(Default)]
struct Place {
    buffer: Option<String>,
    /// Each with whether it has the work-item's id in it.
    terms: Vec<(bool, String)>,
    /// What ids tell apart, and what they are multiplied with.
    own: Vec<(u8, Vec<String>)>,
    /// The same of what differs otherwise; whether it is a variable.
    varying: Vec<(bool, Vec<String>)>,
    /// Whether there is a remainder of an id, and a quotient.
    halves: [bool; 2],
    /// How many were looked at.
    parts: usize,
    is_unknown: bool,
}

impl Place {
    fn apart(mut self, wanted: u8) -> Option<Vec<String>> {
        let halves = if self.halves == [true; 2] { ALL } else { 0 };
        let told = self.own.iter().fold(halves, |all, (told, _)| all | told);
        let is_next = self.own.iter().any(|(_, scale)| scale.is_empty());
        let is_alike =
            |of: &[String], from: usize| self.own[from..].iter().any(|(_, to)| *to == of);
        let meets = self.varying.iter().any(|(is_variable, scale)| {
            is_alike(scale, 0) || is_next && (!is_variable || scale.is_empty())
        }) || (1..self.own.len()).any(|at| is_alike(&self.own[at - 1].1, at));
        if self.is_unknown || wanted & !told != 0 || meets {
            return None;
        }
        // Elements of a work-item's own row are its own.
        self.terms.retain(|(is_own, _)| is_next || *is_own);
        self.terms.sort();
        Some(self.terms.into_iter().map(|(_, term)| term).collect())
    }
}

struct Reader {
    view: View,
    /// What variables are set to, and the steps by which they go on.
    values: HashMap<String, (Expression, Vec<String>)>,
    /// Variables that may differ between work-items, or from time to time.
    varying: HashSet<String>,
    /// The ids by which work-items of this kernel differ.
    wanted: u8,
    parameters: HashSet<String>,
    accesses: BTreeMap<String, Vec<Access>>,
}

impl Reader {
    fn of(program: &Program) -> Reader {
        let text = program.to_string();
        let words: Vec<&str> = lexer::tokens(&text).map(|token| token.text).collect();
        let asked = words.windows(3).filter_map(|three| id(three[0], three[2]));
        let wanted = asked.fold(0_u8, |all, own| all | own | (own << 3) | (own >> 3)) & ALL;
        let mut reader = Reader {
            view: View::of(program),
            values: HashMap::new(),
            varying: HashSet::new(),
            wanted: if wanted == 0 { 0b001_001 } else { wanted },
            parameters: program.parameters.iter().map(|one| one.name.clone()).collect(),
            accesses: BTreeMap::new(),
        };
        // What is set to what changes further down is known the second time.
        let mut body = [program.body.clone(), program.body.clone()].concat();
        for statement in &mut body {
            statement.each(&mut |one| match one {
                Statement::Declare { name, ty, value, .. } => match value {
                    Some(value) if is_whole(*ty) => reader.set(name, value),
                    None if is_whole(*ty) => {}
                    _ => reader.forget(name),
                },
                Statement::Opaque(text) => {
                    let words: Vec<&str> = lexer::tokens(text).map(|token| token.text).collect();
                    let is_set =
                        |pair: &&[&str]| pair[1].ends_with('=') || ["++", "--"].contains(&pair[1]);
                    words.windows(2).filter(is_set).for_each(|pair| reader.forget(pair[0]));
                }
                _ => {}
            });
            statement.each_expression(&mut |one| reader.changed(one));
        }
        reader
    }

    fn set(&mut self, name: &str, value: &Expression) {
        let is_other = match self.values.get(name) {
            Some((known, _)) => known != value,
            None => self.varying.contains(name) || self.parameters.contains(name),
        };
        if is_other {
            return self.forget(name);
        }
        if !self.is_same(value) {
            self.varying.insert(name.to_owned());
        }
        self.values.entry(name.to_owned()).or_insert_with(|| (value.clone(), Vec::new()));
    }

    fn forget(&mut self, name: &str) {
        self.varying.insert(name.to_owned());
        self.values.remove(name);
    }

    fn changed(&mut self, one: &Expression) {
        let (left, step) = match &one.node {
            Node::Assign(operator, left, right) => match operator.as_str() {
                "+=" | "-=" if self.is_same(right) => (left, Some(right.to_string())),
                "=" => match &left.node {
                    Node::Name(name) if is_whole(left.ty) => return self.set(name, right),
                    _ => (left, None),
                },
                _ => (left, None),
            },
            Node::Postfix(_, left) => (left, Some("1".to_owned())),
            Node::Unary(operator, left) => match operator.as_str() {
                "++" | "--" => (left, Some("1".to_owned())),
                "&" => (left, None),
                _ => return,
            },
            _ => return,
        };
        match (&left.node, step) {
            (Node::Name(name), Some(step)) => {
                self.varying.insert(name.clone());
                if let Some((_, steps)) = self.values.get_mut(name) {
                    steps.push(step);
                }
            }
            (Node::Name(name), None) => self.forget(name),
            (Node::Lanes(vector, _), _) => self.forget(&vector.to_string()),
            _ => {}
        }
    }

    /// Whether a value is the same for all work-items at all times.
    fn is_same(&self, value: &Expression) -> bool {
        let mut is_same = !self.view.has_own(value) && !reads(value);
        value.clone().each(&mut |one| {
            is_same &= !matches!(&one.node, Node::Name(name) if self.varying.contains(name));
        });
        is_same
    }

    /// Whether one work-item alone, of all or of its group, comes behind a condition.
    fn is_of_one(&self, condition: &Expression) -> bool {
        let Node::Binary(operator, left, right) = &condition.node else { return false };
        match operator.as_str() {
            "&&" => self.is_of_one(left) || self.is_of_one(right),
            "==" => {
                self.view.is_which(left) && self.is_same(right)
                    || self.view.is_which(right) && self.is_same(left)
            }
            _ => false,
        }
    }

    fn statement(&mut self, one: &Statement, is_of_one: bool) {
        let values: Vec<&Expression> = match one {
            Statement::Declare { value, .. } => value.iter().collect(),
            Statement::Evaluate(value) => vec![value],
            Statement::If { condition, .. }
            | Statement::While { condition, .. }
            | Statement::Do { condition, .. } => vec![condition],
            Statement::For { condition, step, .. } => condition.iter().chain(step).collect(),
            Statement::Block(_) | Statement::Opaque(_) => Vec::new(),
        };
        values.into_iter().for_each(|value| self.expression(value, is_of_one));
        if let Statement::For { start: Some(start), .. } = one {
            self.statement(start, is_of_one);
        }
        let picks = matches!(one, Statement::If { condition, .. } if self.is_of_one(condition));
        for (at, list) in one.lists().enumerate() {
            let is_of_one = is_of_one || picks && at == 0;
            list.iter().for_each(|one| self.statement(one, is_of_one));
        }
    }

    fn expression(&mut self, one: &Expression, is_of_one: bool) {
        one.clone().each(&mut |one| {
            // An address is no access: atomic functions take it.
            let address = match &one.node {
                Node::Unary(operator, of) if operator == "&" => pointer(of),
                _ => None,
            };
            if let Some(address) = address {
                *one = address;
            }
            match &one.node {
                Node::Assign(_, left, _) | Node::Postfix(_, left) => {
                    self.access(pointer(left), true, is_of_one);
                }
                Node::Unary(operator, left) if operator == "++" || operator == "--" => {
                    self.access(pointer(left), true, is_of_one);
                }
                Node::Call(function, arguments) => {
                    let name = function.trim_end_matches(|last: char| last.is_ascii_digit());
                    if let ("vload" | "vstore", [.., at, to]) = (name, &arguments[..]) {
                        let lanes = Expression::literal(Ty::INT, &function[name.len()..]);
                        let at = Expression::binary(Ty::SIZE, "*", at.clone(), lanes);
                        let place = Expression::binary(to.ty, "+", to.clone(), at);
                        self.access(Some(place), name == "vstore", is_of_one);
                    }
                }
                _ => self.access(pointer(one), false, is_of_one),
            }
        });
    }

    fn access(&mut self, pointer: Option<Expression>, is_write: bool, is_of_one: bool) {
        let Some(pointer) = pointer else { return };
        let mut place = Place::default();
        self.take_apart(&pointer, false, &[], &mut place);
        if let Some(buffer) = place.buffer.take() {
            let place = place.apart(self.wanted);
            self.accesses.entry(buffer).or_default().push(Access { is_write, is_of_one, place });
        }
    }

    fn take_apart(&self, one: &Expression, is_less: bool, scale: &[String], into: &mut Place) {
        let scaled = |by: &str| {
            let mut scale = [scale, &[by.to_owned()]].concat();
            scale.sort();
            scale
        };
        into.parts += 1;
        if into.parts > PARTS {
            into.is_unknown = true;
            return;
        }
        let is_sum = is_whole(one.ty) || matches!(one.ty, Ty::Pointer { .. });
        match &one.node {
            Node::Name(name) if self.view.is_buffer(name) => into.buffer = Some(name.clone()),
            Node::Name(name) if self.values.contains_key(name) => {
                let (value, steps) = &self.values[name];
                for step in steps {
                    let scale = if step == "1" { scale.to_vec() } else { scaled(step) };
                    into.terms.push((false, format!("{name} by {step}")));
                    into.varying.push((true, scale));
                }
                self.take_apart(value, is_less, scale, into);
            }
            Node::Cast(_, operand) if is_sum && is_whole(operand.ty) => {
                self.take_apart(operand, is_less, scale, into);
            }
            Node::Binary(operator, left, right)
                if is_sum && (operator == "+" || operator == "-") =>
            {
                self.take_apart(left, is_less, scale, into);
                self.take_apart(right, is_less ^ (operator == "-"), scale, into);
            }
            Node::Binary(operator, left, right) if operator == "*" && self.is_same(left) => {
                self.take_apart(right, is_less, &scaled(&left.to_string()), into);
            }
            Node::Binary(operator, left, right)
                if (operator == "*" || operator == "<<") && self.is_same(right) =>
            {
                self.take_apart(left, is_less, &scaled(&right.to_string()), into);
            }
            node => {
                let is_own = self.view.has_own(one);
                let sign = if is_less { "-" } else { "+" };
                into.terms.push((is_own, format!("{sign}{one}*{}", scale.join("*"))));
                match node {
                    _ if self.is_same(one) => {}
                    _ if !is_own => {
                        into.varying.push((matches!(node, Node::Name(_)), scale.to_vec()));
                    }
                    Node::Call(name, _) if name.starts_with("atom") => {
                        into.own.push((ALL, scale.to_vec()));
                    }
                    _ if reads(one) => into.is_unknown = true,
                    Node::Call(name, arguments) if !NO_ID.contains(&name.as_str()) => {
                        let dimension = arguments.first().map(ToString::to_string);
                        let told = id(name, &dimension.unwrap_or_default());
                        into.own.push((told.unwrap_or(ALL), scale.to_vec()));
                    }
                    Node::Lanes(..) | Node::Opaque(_) => into.own.push((ALL, scale.to_vec())),
                    Node::Binary(operator, ..) if HALVES.contains(&operator.as_str()) => {
                        into.halves[usize::from(operator == "/" || operator == ">>")] = true;
                        into.own.push((0, scale.to_vec()));
                    }
                    _ => into.is_unknown = true,
                }
            }
        }
    }
}

/// What an id, asked for in a dimension, tells apart.
fn id(function: &str, dimension: &str) -> Option<u8> {
    let told: u8 = match function {
        "get_global_id" => 0b001_001,
        "get_group_id" => 0b000_001,
        "get_local_id" => 0b001_000,
        "get_local_linear_id" => return Some(0b111_000),
        _ => return None,
    };
    let dimension = dimension.parse::<u8>().ok().filter(|dimension| *dimension < 3);
    dimension.map(|dimension| told << dimension)
}

/// Whether it is an integer that holds every id.
fn is_whole(ty: Ty) -> bool {
    matches!(ty, Ty::Number(scalar, 1) if !scalar.is_float() && scalar.bits() >= 32)
}

/// The address of an element.
fn pointer(element: &Expression) -> Option<Expression> {
    match &element.node {
        Node::Lanes(vector, _) => pointer(vector),
        Node::Index(pointer, at) => {
            let (pointer, at) = (Expression::clone(pointer), Expression::clone(at));
            Some(Expression::binary(pointer.ty, "+", pointer, at))
        }
        Node::Unary(operator, pointer) if operator == "*" => Some(Expression::clone(pointer)),
        _ => None,
    }
}

/// Whether a value comes from memory, or is changed on the way.
fn reads(value: &Expression) -> bool {
    let mut reads = false;
    value.clone().each(&mut |one| {
        reads |= match &one.node {
            Node::Name(_) => matches!(one.ty, Ty::Pointer { .. }),
            Node::Index(..) | Node::Assign(..) | Node::Postfix(..) => true,
            Node::Unary(operator, _) => ["*", "++", "--"].contains(&operator.as_str()),
            Node::Opaque(text) => text.contains('['),
            _ => false,
        };
    });
    reads
}

#[cfg(test)]
mod tests {
    use crate::MayRace;

    #[test]
    fn places_that_work_items_may_share_are_told_from_those_that_are_their_own() {
        let found = MayRace::new(1).unwrap_or_else(|error| panic!("{error}"));
        let check = |head: &str, body: &str, may: bool| {
            let text = format!("__kernel void A({head}) {{\n  {body}\n}}\n");
            let said = found.is_in(&text).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(said, Ok(may), "{body}");
        };
        let floats =
            "__global float* b, __global float* d, __global ulong* c, int f, float a, int e";
        for (body, may) in [
            ("b[get_global_id(0) + c[0]] += b[get_global_id(0)] + d[f] * 0.3f * e * a;", true),
            ("b[get_global_id(0) + c[0]] = a;", true),
            ("int i = get_global_id(0); if (i < f) b[i] = a * d[get_global_id(0)] + b[i];", false),
            ("b[get_global_id(0) + f] += a; b[f + get_global_id(0)] *= a;", false),
            ("b[get_global_id(0) + f] = b[get_global_id(0)];", true),
            ("b[get_global_id(0)] = d[c[get_global_id(0)]] + d[f];", false),
        ] {
            check(floats, body, may);
        }
        let wholes = "__global int* a, __global int* b, int n";
        for (body, may) in [
            ("a[get_global_id(0)] = a[get_global_id(0) + 1];", true),
            ("int i; i = get_global_id(0); a[i * 3] = a[i * 3 + 2];", false),
            ("int i = get_global_id(0); a[b[i]] = n;", true),
            ("int i = b[get_global_id(0)]; a[i]++;", true),
            ("a[n] = 1;", true),
            ("*(a + get_global_id(0)) = b[n]; a[get_global_id(0)]--;", false),
            ("a[get_global_id(0) / n] = 1;", true),
            ("int i = get_global_id(0); a[i / n * n + i % n] = 1;", false),
            ("a[min((int)get_global_id(0), n)] = 1;", true),
            // Two dimensions, and groups.
            ("int x = get_global_id(0), y = get_global_id(1); a[y * n + x] = b[x * n + y];", false),
            ("int x = get_global_id(0), y = get_global_id(1); a[y * n + x] += a[x * n + y];", true),
            ("int x = get_global_id(0), y = get_global_id(1); a[y + x] = 1;", true),
            ("a[get_global_id(0)] = get_global_id(1);", true),
            ("a[get_group_id(0) * get_local_size(0) + get_local_id(0)] = n;", false),
            ("a[get_local_id(0)] = n;", true),
            // One work-item.
            ("if (get_global_id(0) == 0) a[n] = a[3];", false),
            ("if (get_global_id(0) == b[0]) a[n] = a[3];", true),
            ("if (get_global_id(0) == 0) a[n] = 1; b[get_global_id(0)] = a[n];", true),
            ("int i = get_local_id(0); if (i == 0) a[get_group_id(0)] = b[n];", false),
            // Loops.
            ("for (int i = get_global_id(0); i < n; i += get_global_size(0)) a[i]++;", false),
            ("for (int i = get_global_id(0); i < n; i++) a[i] = 1;", true),
            (
                "for (int i = 0; i < n; i++) a[get_global_id(0) * n + i] += a[get_global_id(0) * n];",
                false,
            ),
            ("for (int i = 0; i < n; i++) a[i * n + get_global_id(0)] += b[i];", false),
            ("for (int i = 0; i < n; i++) a[i + get_global_id(0)] += b[i];", true),
            ("for (int i = 0; i < n; i++) a[i] += b[i];", true),
            // Atomic, wide, and other accesses.
            ("atomic_add(&a[b[get_global_id(0)]], 1); atomic_inc(a);", false),
            ("a[atomic_inc(b)] = n;", false),
            ("vstore4(vload4(get_global_id(0), a), get_global_id(0), a);", false),
            ("vstore4(vload4(n, a), get_global_id(0), a);", true),
            ("__global int* c = a + n; c[b[0]] = 1;", false),
            ("__local int t[64]; t[b[0] & 63] = n; a[get_global_id(0)] = t[0];", false),
            (
                "a[get_global_id(0)] = n; barrier(1); b[get_global_id(0)] = a[get_group_id(0) * n + get_local_id(0) + 1];",
                false,
            ),
            // Variables that are set twice, or by each other.
            ("int i = get_global_id(0); if (i > n) i = n; a[i] = 1;", true),
            ("int i, j; i = j; j = i; a[get_global_id(0) + i] = 1;", true),
            ("n = b[0]; a[get_global_id(0) + n] = 1;", true),
        ] {
            check(wholes, body, may);
        }
    }
}

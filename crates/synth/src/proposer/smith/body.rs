//! The body of a function. It ends: loops count to a constant, and functions call later ones alone. What it computes is defined:
//! variables are set where they are declared, indices are constants or counters below the size, pointers point to what lives as
//! long, arithmetic is safe, and no expression calls a function that changes anything.

use super::program::{Array, Counter, Place, Pointer, Scope, Vector, Writer, sizes_of};
use crate::edit::Rng;
use rand::{Rng as _, seq::IndexedRandom};

/// How often a statement is executed in a call, at most.
const TIMES: u64 = 64;
/// Statements executed in a call after which no loop begins, and none calls a function that need not be called.
const OWN: u64 = 1_500;
const TOTAL: u64 = 4_000;
/// Blocks within each other.
const DEPTH: usize = 3;

/// A body as it is written.
pub(super) struct Body<'w, 'a> {
    pub(super) writer: &'w mut Writer<'a>,
    pub(super) scope: Scope,
    /// Which function it is of.
    at: usize,
    lines: String,
    depth: usize,
    /// How often a statement here is executed.
    times: u64,
    /// Statements executed in a call, at most.
    work: u64,
}

impl<'w, 'a> Body<'w, 'a> {
    /// That of the function `at`, on which all is spent that is left.
    pub(super) fn write(writer: &'w mut Writer<'a>, at: usize) -> String {
        let scope = writer.shared.clone();
        let mut body =
            Body { writer, scope, at, lines: String::new(), depth: 0, times: 1, work: 0 };
        body.parameters();
        for _ in 0..body.rng().random_range(1..=4) {
            body.declare();
        }
        let mut least: usize = body.rng().random_range(1..=4);
        let mut owed = body.writer.functions[at].owed.clone();
        while body.is_left() || least > 0 || !owed.is_empty() {
            match owed.pop() {
                Some(callee) if body.rng().random_bool(0.4) => body.call(callee),
                kept => {
                    owed.extend(kept);
                    body.statement();
                }
            }
            least = least.saturating_sub(1);
        }
        let value = body.leaf();
        body.line(&format!("return {value};"));
        body.writer.functions[at].work = body.work;
        body.lines
    }

    pub(super) fn rng(&mut self) -> &mut Rng {
        self.writer.rng
    }

    fn is_left(&self) -> bool {
        self.writer.left.comp > 0 || self.writer.left.rational > 0
    }

    /// So many operations and comparisons, where as many are left.
    pub(super) fn spend(&mut self, comp: u32, rational: u32) -> bool {
        let left = &mut self.writer.left;
        let is_enough = left.comp >= comp && left.rational >= rational;
        if is_enough {
            left.comp -= comp;
            left.rational -= rational;
        }
        is_enough
    }

    fn line(&mut self, text: &str) {
        self.lines += &"  ".repeat(self.depth + 1);
        self.lines += text;
        self.lines.push('\n');
    }

    fn parameters(&mut self) {
        let reach = self.scope.places.len();
        for parameter in &self.writer.functions[self.at].parameters {
            let (path, ty) = (parameter.name.clone(), parameter.ty);
            match parameter.is_pointer {
                true => self.scope.pointers.push(Pointer { path, ty, reach }),
                false => self.scope.places.push(Place { path, ty }),
            }
        }
    }

    /// An element of the array.
    fn element(&mut self, array: &Array) -> Place {
        let mut path = array.path.clone();
        for size in &array.dimensions {
            let below = self.scope.counters.iter().filter(|counter| counter.times <= *size);
            let counters: Vec<&str> = below.map(|counter| counter.name.as_str()).collect();
            let rng = &mut *self.writer.rng;
            match counters.choose(rng) {
                Some(name) if rng.random_bool(0.7) => path += &format!("[{name}]"),
                _ => path += &format!("[{}]", rng.random_range(0..*size)),
            }
        }
        Place { path, ty: array.ty }
    }

    /// What can be set and is reached without a pointer that a call may change.
    fn direct(&mut self) -> Place {
        let kind = self.rng().random_range(0..10);
        if kind < 2
            && let Some(array) = self.scope.arrays.choose(self.writer.rng).cloned()
        {
            return self.element(&array);
        }
        let all = match kind {
            2 if !self.scope.elements.is_empty() => &self.scope.elements,
            _ => &self.scope.places,
        };
        all.choose(self.writer.rng).cloned().expect("the struct has a number")
    }

    /// What can be set.
    pub(super) fn place(&mut self) -> Place {
        if self.rng().random_bool(0.25)
            && let Some(pointer) = self.scope.pointers.choose(self.writer.rng)
        {
            let (path, ty) = (&pointer.path, pointer.ty);
            return Place { path: format!("(*{path})"), ty };
        }
        self.direct()
    }

    /// A variable of its own.
    fn declare(&mut self) {
        let name = self.writer.name('l');
        match self.rng().random_range(0..20) {
            0..11 => self.declare_number(name),
            11..14 => self.declare_pointer(name),
            14..16 => self.declare_vector(name),
            _ => self.declare_array(name),
        }
    }

    fn declare_number(&mut self, path: String) {
        let ty = self.writer.number();
        let is_constant = self.rng().random_bool(0.7);
        let value = if is_constant { self.writer.constant(ty) } else { self.value() };
        self.line(&format!("{ty} {path} = {value};"));
        self.scope.places.push(Place { path, ty });
    }

    fn declare_pointer(&mut self, path: String) {
        let to = self.scope.places.choose(self.writer.rng).cloned();
        let Place { path: to, ty } = to.expect("the struct has a number");
        self.line(&format!("{ty} *{path} = &{to};"));
        self.scope.pointers.push(Pointer { path, ty, reach: self.scope.places.len() });
    }

    fn declare_vector(&mut self, path: String) {
        let mut vector = self.writer.vector();
        let (ty, elements) = (vector.ty, vector.elements);
        let value = self.writer.vector_value(&vector);
        self.line(&format!("{ty}{elements} {path} = {value};"));
        vector.path = path;
        self.scope.elements.extend(vector.places());
        self.scope.vectors.push(vector);
    }

    /// Filled by loops where there may be some.
    fn declare_array(&mut self, path: String) {
        let ty = self.writer.number();
        let dimensions = self.writer.dimensions(2);
        let sizes = sizes_of(&dimensions);
        let elements: usize = dimensions.iter().product();
        if self.may_loop(elements) && self.spend(0, dimensions.len() as u32) {
            self.line(&format!("{ty} {path}{sizes};"));
            let mut element = path.clone();
            for size in &dimensions {
                let counter = self.writer.name('i');
                self.line(&format!("for (int {counter} = 0; {counter} < {size}; {counter}++)"));
                element += &format!("[{counter}]");
                self.depth += 1;
            }
            let value = self.writer.constant(ty);
            self.line(&format!("{element} = {value};"));
            self.depth -= dimensions.len();
            self.work += self.times * elements as u64;
        } else {
            let values = self.writer.list(ty, &dimensions);
            self.line(&format!("{ty} {path}{sizes} = {values};"));
        }
        self.scope.arrays.push(Array { path, ty, dimensions });
    }

    fn may_loop(&self, times: usize) -> bool {
        self.times * times as u64 <= TIMES && self.work < OWN
    }

    fn statement(&mut self) {
        self.work += self.times;
        let is_deep = self.depth >= DEPTH;
        match self.rng().random_range(0..100) {
            36..46 => self.assign_bitwise(),
            46..50 => self.assign_counted(),
            50..56 => self.assign_vector(),
            56..60 => self.assign_pointer(),
            60..68 => self.declare(),
            68..80 if !is_deep => self.branch(),
            80..92 if !is_deep => self.repeat(),
            92..95 => self.leave(),
            95..97 => self.call_any(),
            _ => self.assign(),
        }
    }

    fn assign(&mut self) {
        let (to, value) = (self.place().path, self.value());
        self.line(&format!("{to} = {value};"));
    }

    fn assign_bitwise(&mut self) {
        let (to, value) = (self.place().path, self.value());
        let operator = self.one_of(&["&", "|", "^"]);
        self.line(&format!("{to} {operator}= {value};"));
    }

    /// A step or a sum, where it is defined whatever the values are.
    fn assign_counted(&mut self) {
        let Place { path, ty } = self.place();
        if !["uint", "ulong"].contains(&ty) {
            let value = self.value();
            return self.line(&format!("{path} = {value};"));
        }
        if self.rng().random_bool(0.5) {
            let step = self.one_of(&["++", "--"]);
            return self.line(&format!("{path}{step};"));
        }
        let (operator, value) = (self.one_of(&["+", "-"]), self.value());
        self.line(&format!("{path} {operator}= ({ty}){value};"));
    }

    fn assign_vector(&mut self) {
        let Some(to) = self.scope.vectors.choose(self.writer.rng).cloned() else {
            return self.assign();
        };
        let alike = |other: &&Vector| (other.ty, other.elements) == (to.ty, to.elements);
        let of: Vec<String> =
            self.scope.vectors.iter().filter(alike).map(|other| other.path.clone()).collect();
        let [left, right] = [(); 2].map(|()| &of[self.writer.rng.random_range(0..of.len())]);
        let line = if self.spend(1, 0) {
            let operator = self.one_of(&["+", "-", "*", "&", "|", "^"]);
            format!("{} = {left} {operator} {right};", to.path)
        } else {
            format!("{} {}= {right};", to.path, self.one_of(&["&", "|", "^"]))
        };
        self.line(&line);
    }

    /// Points a pointer elsewhere.
    fn assign_pointer(&mut self) {
        let Some(pointer) = self.scope.pointers.choose(self.writer.rng).cloned() else { return };
        let known = &self.scope.places[..pointer.reach];
        let known: Vec<&Place> = known.iter().filter(|place| place.ty == pointer.ty).collect();
        if let Some(to) = known.choose(self.writer.rng) {
            let line = format!("{} = &{};", pointer.path, to.path);
            self.line(&line);
        }
    }

    fn branch(&mut self) {
        let condition = self.value();
        self.line(&format!("if ({condition}) {{"));
        self.block();
        if self.rng().random_bool(0.4) {
            self.line("} else {");
            self.block();
        }
        self.line("}");
    }

    fn repeat(&mut self) {
        let times = self.rng().random_range(2..=8);
        if !self.may_loop(times) || !self.spend(0, 1) {
            return self.assign();
        }
        let name = self.writer.name('i');
        self.line(&format!("for (int {name} = 0; {name} < {times}; {name}++) {{"));
        self.scope.counters.push(Counter { name, times });
        self.times *= times as u64;
        self.block();
        self.times /= times as u64;
        self.scope.counters.pop();
        self.line("}");
    }

    /// Leaves the loop, this time through it, or the function.
    fn leave(&mut self) {
        let jump = match self.rng().random_range(0..4) {
            0 if self.depth > 0 => format!("return {}", self.leaf()),
            1..3 if !self.scope.counters.is_empty() => "continue".to_owned(),
            _ if !self.scope.counters.is_empty() => "break".to_owned(),
            _ => return self.assign(),
        };
        let condition = self.value();
        self.line(&format!("if ({condition}) {jump};"));
    }

    fn block(&mut self) {
        let outer = self.scope.clone();
        self.depth += 1;
        for _ in 0..self.rng().random_range(1..=4) {
            self.statement();
        }
        self.depth -= 1;
        self.scope = outer;
    }

    fn call_any(&mut self) {
        let later = self.at + 1..self.writer.functions.len();
        let cost = |callee: &usize| self.work + self.times * self.writer.functions[*callee].work;
        let cheap: Vec<usize> = later.filter(|callee| cost(callee) <= TOTAL).collect();
        match cheap.choose(self.writer.rng) {
            Some(callee) => self.call(*callee),
            None => self.assign(),
        }
    }

    fn call(&mut self, callee: usize) {
        let function = &self.writer.functions[callee];
        self.work += self.times * function.work;
        let name = function.name.clone();
        let wanted: Vec<(&'static str, bool)> =
            function.parameters.iter().map(|one| (one.ty, one.is_pointer)).collect();
        let mut arguments = "p_1".to_owned();
        for (ty, is_pointer) in wanted {
            let argument = if is_pointer {
                let known = self.scope.places.iter().filter(|place| place.ty == ty);
                let known: Vec<&str> = known.map(|place| place.path.as_str()).collect();
                format!("&{}", known.choose(self.writer.rng).expect("a field has this type"))
            } else {
                let depth = self.rng().random_range(0..=2);
                self.expression(depth)
            };
            arguments += &format!(", {argument}");
        }
        let line = match self.rng().random_bool(0.8) {
            true => format!("{} = {name}({arguments});", self.direct().path),
            false => format!("{name}({arguments});"),
        };
        self.line(&line);
    }

    pub(super) fn one_of(&mut self, all: &[&'static str]) -> &'static str {
        all[self.rng().random_range(0..all.len())]
    }
}

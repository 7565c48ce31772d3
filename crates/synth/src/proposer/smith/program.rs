//! A whole program: the struct of variables that its functions share, the functions, the kernel.

use super::{body::Body, safe::Safe, sizes::Size};
use crate::edit::Rng;
use rand::{Rng as _, seq::IndexedRandom};
use std::collections::BTreeSet;

/// Types of numbers.
pub(super) const NUMBERS: [&str; 8] =
    ["char", "uchar", "short", "ushort", "int", "uint", "long", "ulong"];
/// Those of a vector's elements; signed ones may overflow.
const ELEMENTS: [&str; 4] = ["uchar", "ushort", "uint", "ulong"];
/// Operations in every program: four number the work-item, three end the hash.
const ALWAYS: u32 = 7;
/// The most that is spent on a function other than the first.
const OTHERS: Size = Size { comp: 150, rational: 200 };

/// Compound assignments are no operations to Grewe's rules, so that hashing counts for nothing.
const HELPERS: &str = "\
void hash_value(ulong *hash, ulong value) {
  *hash ^= value;
  *hash *= 0x100000001B3UL;
}
uint get_linear_global_id(void) {
  return (get_global_id(2) * get_global_size(1) + get_global_id(1)) * get_global_size(0) + get_global_id(0);
}
";

/// A number that can be named and set.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) path: String,
    pub(super) ty: &'static str,
}

#[derive(Clone, Debug)]
pub(super) struct Array {
    pub(super) path: String,
    pub(super) ty: &'static str,
    pub(super) dimensions: Vec<usize>,
}

#[derive(Clone, Debug)]
pub(super) struct Pointer {
    pub(super) path: String,
    pub(super) ty: &'static str,
    /// How many of the places that there are live as long as it, so that it may point to them.
    pub(super) reach: usize,
}

#[derive(Clone, Debug)]
pub(super) struct Vector {
    pub(super) path: String,
    pub(super) ty: &'static str,
    pub(super) elements: usize,
}

/// The counter of a loop, and how many times it runs.
#[derive(Clone, Debug)]
pub(super) struct Counter {
    pub(super) name: String,
    pub(super) times: usize,
}

/// What can be named at a place.
#[derive(Clone, Debug, Default)]
pub(super) struct Scope {
    pub(super) places: Vec<Place>,
    /// Elements of vectors, which nothing can point to.
    pub(super) elements: Vec<Place>,
    pub(super) arrays: Vec<Array>,
    pub(super) pointers: Vec<Pointer>,
    pub(super) vectors: Vec<Vector>,
    pub(super) counters: Vec<Counter>,
}

pub(super) struct Parameter {
    pub(super) name: String,
    pub(super) ty: &'static str,
    pub(super) is_pointer: bool,
}

/// A function, which takes a pointer to the struct and parameters of its own.
pub(super) struct Function {
    pub(super) name: String,
    pub(super) returns: &'static str,
    pub(super) parameters: Vec<Parameter>,
    /// Later functions that it must call, so that each is called.
    pub(super) owed: Vec<usize>,
    /// Statements that a call executes, at most; known once it is written.
    pub(super) work: u64,
}

impl Function {
    fn head(&self) -> String {
        let mut head = format!("{} {}(struct S0 *p_1", self.returns, self.name);
        for Parameter { name, ty, is_pointer } in &self.parameters {
            let star = if *is_pointer { "*" } else { "" };
            head += &format!(", {ty} {star}{name}");
        }
        head + ")"
    }
}

/// A program as it is written.
pub(super) struct Writer<'a> {
    pub(super) rng: &'a mut Rng,
    /// The number of the last name.
    last: usize,
    /// What may still be spent on the function that is written.
    pub(super) left: Size,
    pub(super) used: BTreeSet<Safe>,
    /// What every function can name.
    pub(super) shared: Scope,
    pub(super) functions: Vec<Function>,
}

/// The struct's text, and what the kernel does with it.
#[derive(Default)]
struct Struct {
    fields: String,
    values: Vec<String>,
    /// Pointers in it that are set.
    pointers: String,
    hashes: String,
}

/// A program, and its size by Grewe's rules, which count the kernel and its first function: a function that is defined after
/// the call is none of it.
pub(super) fn write(rng: &mut Rng) -> (String, Size) {
    let size = Size::draw(rng);
    let mut writer = Writer {
        rng,
        last: 1,
        left: Size { comp: 0, rational: 0 },
        used: BTreeSet::new(),
        shared: Scope::default(),
        functions: Vec::new(),
    };
    let mut first = Size { comp: size.comp.saturating_sub(ALWAYS), ..size };
    let fields = writer.fields(&mut first.rational);
    writer.signatures();
    let bodies = writer.bodies(first);
    (writer.text(&fields, &bodies), size)
}

impl Writer<'_> {
    pub(super) fn name(&mut self, kind: char) -> String {
        self.last += 1;
        format!("{kind}_{}", self.last)
    }

    pub(super) fn number(&mut self) -> &'static str {
        NUMBERS[self.rng.random_range(0..NUMBERS.len())]
    }

    /// The fields of the struct. Elements of arrays are hashed in loops, whose comparisons are taken from `comparisons`.
    fn fields(&mut self, comparisons: &mut u32) -> Struct {
        let mut fields = Struct::default();
        self.number_field(&mut fields);
        for _ in 0..self.rng.random_range(1..8) {
            match self.rng.random_range(0..10) {
                0 | 1 if *comparisons > 0 => self.array_field(&mut fields, comparisons),
                2 => self.vector_field(&mut fields),
                _ => self.number_field(&mut fields),
            }
        }
        for _ in 0..self.rng.random_range(0..3) {
            self.pointer_field(&mut fields);
        }
        fields
    }

    fn number_field(&mut self, fields: &mut Struct) {
        let (name, ty) = (self.name('g'), self.number());
        let place = Place { path: format!("p_1->{name}"), ty };
        fields.add(&format!("{ty} {name}"), self.constant(ty));
        fields.hash(&place.path);
        self.shared.places.push(place);
    }

    fn array_field(&mut self, fields: &mut Struct, comparisons: &mut u32) {
        let (name, ty) = (self.name('g'), self.number());
        let dimensions = self.dimensions(if *comparisons > 1 { 2 } else { 1 });
        *comparisons = comparisons.saturating_sub(dimensions.len() as u32);
        fields.add(&format!("{ty} {name}{}", sizes_of(&dimensions)), self.list(ty, &dimensions));
        let mut path = format!("p_1->{name}");
        for (at, size) in dimensions.iter().enumerate() {
            fields.hashes += &format!("  for (int i_{at} = 0; i_{at} < {size}; i_{at}++)\n");
            path += &format!("[i_{at}]");
        }
        fields.hash(&path);
        self.shared.arrays.push(Array { path: format!("p_1->{name}"), ty, dimensions });
    }

    fn vector_field(&mut self, fields: &mut Struct) {
        let (name, vector) = (self.name('g'), self.vector());
        let (ty, elements) = (vector.ty, vector.elements);
        fields.add(&format!("{ty}{elements} {name}"), self.vector_value(&vector));
        let vector = Vector { path: format!("p_1->{name}"), ..vector };
        for element in vector.places() {
            fields.hash(&element.path);
            self.shared.elements.push(element);
        }
        self.shared.vectors.push(vector);
    }

    /// One that points to another field, always to the same.
    fn pointer_field(&mut self, fields: &mut Struct) {
        let Some(Place { path, ty }) = self.shared.places.choose(self.rng).cloned() else { return };
        let name = self.name('g');
        fields.add(&format!("{ty} *{name}"), "0".to_owned());
        fields.pointers += &format!("  p_1->{name} = &{path};\n");
        self.shared.pointers.push(Pointer { path: format!("p_1->{name}"), ty, reach: 0 });
    }

    /// Functions without bodies; each but the first is owed a call by an earlier one.
    fn signatures(&mut self) {
        let count: usize = self.rng.random_range(1..=6);
        for number in 0..count {
            let mut parameters = Vec::new();
            if number > 0 {
                let caller = self.rng.random_range(0..number);
                self.functions[caller].owed.push(number);
                for _ in 0..self.rng.random_range(0..4) {
                    let (name, ty) = (self.name('p'), self.number());
                    parameters.push(Parameter { name, ty, is_pointer: false });
                }
                // A field can be pointed to in any function.
                let field = self.shared.places.choose(self.rng).map(|field| field.ty);
                if let Some(ty) = field.filter(|_| self.rng.random_bool(0.5)) {
                    parameters.push(Parameter { name: self.name('p'), ty, is_pointer: true });
                }
            }
            let (name, returns) = (format!("func_{}", number + 1), self.number());
            self.functions.push(Function { name, returns, parameters, owed: Vec::new(), work: 0 });
        }
    }

    /// The last function first: what a call of it costs is known before there is one.
    fn bodies(&mut self, first: Size) -> Vec<String> {
        let mut bodies = Vec::new();
        for at in (0..self.functions.len()).rev() {
            let other = Size::draw(self.rng);
            self.left = match at {
                0 => first,
                _ => Size {
                    comp: other.comp.saturating_sub(ALWAYS).min(OTHERS.comp),
                    rational: other.rational.min(OTHERS.rational),
                },
            };
            bodies.push(Body::write(self, at));
        }
        bodies.reverse();
        bodies
    }

    fn text(&self, fields: &Struct, bodies: &[String]) -> String {
        let mut text = format!("struct S0 {{\n{}}};\n", fields.fields);
        for function in &self.functions {
            text += &format!("{};\n", function.head());
        }
        for safe in &self.used {
            text += &safe.text();
        }
        text += HELPERS;
        for (function, body) in self.functions.iter().zip(bodies) {
            text += &format!("{} {{\n{body}}}\n", function.head());
        }
        let Struct { values, pointers, hashes, .. } = fields;
        text + "__kernel void entry(__global ulong *result) {\n"
            + &format!("  struct S0 c_1 = {{{}}};\n  struct S0 *p_1 = &c_1;\n", values.join(", "))
            + pointers
            + "  func_1(p_1);\n  ulong hash = 0xCBF29CE484222325UL;\n"
            + hashes
            + "  result[get_linear_global_id()] = (hash ^ (hash >> 32)) * 0x9E3779B97F4A7C15UL;\n}\n"
    }

    pub(super) fn dimensions(&mut self, most: usize) -> Vec<usize> {
        let count = self.rng.random_range(1..=most);
        (0..count).map(|_| self.rng.random_range(2..=8)).collect()
    }

    /// The values of an array.
    pub(super) fn list(&mut self, ty: &'static str, dimensions: &[usize]) -> String {
        let Some((size, inner)) = dimensions.split_first() else { return self.constant(ty) };
        let values: Vec<String> = (0..*size).map(|_| self.list(ty, inner)).collect();
        format!("{{{}}}", values.join(", "))
    }

    /// A vector that has no name yet.
    pub(super) fn vector(&mut self) -> Vector {
        let ty = ELEMENTS[self.rng.random_range(0..ELEMENTS.len())];
        let elements = if self.rng.random_bool(0.5) { 2 } else { 4 };
        Vector { path: String::new(), ty, elements }
    }

    pub(super) fn vector_value(&mut self, vector: &Vector) -> String {
        let (ty, elements) = (vector.ty, vector.elements);
        let values: Vec<String> = (0..elements).map(|_| self.constant(ty)).collect();
        format!("({ty}{elements})({})", values.join(", "))
    }
}

impl Struct {
    fn add(&mut self, field: &str, value: String) {
        self.fields += &format!("  {field};\n");
        self.values.push(value);
    }

    fn hash(&mut self, path: &str) {
        self.hashes += &format!("  hash_value(&hash, {path});\n");
    }
}

impl Vector {
    /// Its elements.
    pub(super) fn places(&self) -> Vec<Place> {
        let names = ["x", "y", "z", "w"].into_iter().take(self.elements);
        names.map(|name| Place { path: format!("{}.{name}", self.path), ty: self.ty }).collect()
    }
}

/// `[3][5]`
pub(super) fn sizes_of(dimensions: &[usize]) -> String {
    dimensions.iter().map(|size| format!("[{size}]")).collect()
}

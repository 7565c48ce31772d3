//! Declarations: specifiers, declarators, parameters, structs, enumerations, initialisers.

use super::{
    attribute::Attribute,
    builtins::CONSTANTS,
    express::Purpose,
    operand::Operand,
    parameters::Parameter,
    parser::{Goal, Lexeme, Name, Outcome, Parser, Refusal, Sort, Step, Symbol},
    storage::keeps,
    types::{OTHERS, Scalar, Space, Target, Type},
};
use std::sync::Arc;

/// Where a declaration stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Place {
    File,
    Block,
    ForFirst,
    Parameter,
    Member(usize),
    /// No declaration but the name of a type: in a cast, in `sizeof`.
    TypeName,
}

/// A declaration so far.
#[derive(Clone, Debug, Hash)]
pub(super) struct Declaration {
    pub(super) place: Place,
    pub(super) kernel: bool,
    pub(super) typedef: bool,
    pub(super) constant: bool,
    pub(super) space: Option<Space>,
    /// `signed`, `unsigned`.
    pub(super) sign: Option<bool>,
    /// Words of an arithmetic type so far: `long`, `int`, …
    pub(super) longs: u8,
    pub(super) ty: Option<Type>,
    /// Whether the type's word may be followed by another: `long int`.
    pub(super) open: bool,
    /// Whether a struct or enumeration was defined or named: a lone `;` may follow.
    pub(super) tagged: bool,
    /// Not allowed as a kernel's parameter: `bool`, `size_t`, `half` and their like.
    pub(super) host_sized: bool,
    pub(super) base: Type,
    pub(super) current: Type,
    pub(super) stars: u32,
    pub(super) pointer_constant: bool,
    /// Where a pointer itself lives, where that is said: `global int* local p`.
    pub(super) pointer_space: Option<Space>,
    /// `volatile`: what it holds is never known.
    pub(super) volatile: bool,
    pub(super) dimensions: u32,
    pub(super) name: Option<Name>,
    pub(super) initialised: bool,
    /// Whether the name stands in parentheses behind a star: a pointer to an array.
    pub(super) inner: bool,
    /// Whether an image is read and written, where that is said.
    pub(super) access: Option<(bool, bool)>,
    /// `inline`: a function.
    pub(super) inline: bool,
    /// `static`.
    pub(super) fixed_home: bool,
    /// A kernel's parameter.
    pub(super) of_kernel: bool,
    /// A pipe of what is named: OpenCL C 2.0, section 6.13.16.
    pub(super) pipe: bool,
    /// Whether an attribute stands behind the name.
    pub(super) attributed: bool,
    /// Whether an array's size is left to its values.
    pub(super) open_sized: bool,
    /// Whether others were declared before it: `int a, b`.
    pub(super) later: bool,
    /// Structs that the file knew before a function's parameters.
    pub(super) tags: usize,
}

impl Declaration {
    pub(super) fn new(place: Place) -> Declaration {
        Declaration {
            place,
            kernel: false,
            typedef: false,
            constant: false,
            space: None,
            sign: None,
            longs: 0,
            ty: None,
            open: false,
            tagged: false,
            host_sized: false,
            base: Type::Unknown,
            current: Type::Unknown,
            stars: 0,
            pointer_constant: false,
            pointer_space: None,
            volatile: false,
            dimensions: 0,
            name: None,
            initialised: false,
            inner: false,
            access: None,
            inline: false,
            fixed_home: false,
            of_kernel: false,
            pipe: false,
            attributed: false,
            open_sized: false,
            later: false,
            tags: 0,
        }
    }

    pub(super) fn parameter(of_kernel: bool) -> Box<Declaration> {
        Box::new(Declaration { of_kernel, ..Declaration::new(Place::Parameter) })
    }

    pub(super) fn place(&self) -> Place {
        self.place
    }

    pub(super) fn is_kernel(&self) -> bool {
        self.kernel
    }

    /// Whether it is nothing without a value.
    pub(super) fn needs_value(&self) -> bool {
        let valued = self.space == Some(Space::Constant) && self.stars == 0 && !self.typedef;
        (valued || self.open_sized && self.place != Place::Parameter) && !self.initialised
    }

    pub(super) fn is_typed(&self) -> bool {
        self.ty.is_some() || self.sign.is_some()
    }

    /// The type that the specifiers make.
    fn base(&self) -> Type {
        match (&self.ty, self.sign) {
            (Some(Type::Scalar(scalar)), Some(unsigned)) => {
                let pairs = [
                    (Scalar::Char, Scalar::Uchar),
                    (Scalar::Short, Scalar::Ushort),
                    (Scalar::Int, Scalar::Uint),
                    (Scalar::Long, Scalar::Ulong),
                ];
                let pair = pairs.iter().find(|(signed, _)| signed == scalar);
                pair.map_or(Type::Unknown, |(s, u)| Type::Scalar(if unsigned { *u } else { *s }))
            }
            (Some(Type::Image { shape, .. }), _) => {
                let (reads, writes) = self.access.unwrap_or((true, false));
                Type::Image { shape: *shape, reads, writes }
            }
            (Some(ty), _) => ty.clone(),
            (None, Some(true)) => Type::Scalar(Scalar::Uint),
            (None, _) => Type::Scalar(Scalar::Int),
        }
    }

    /// Begin a declarator of the same base.
    fn again(mut self: Box<Self>) -> Box<Self> {
        self.current = self.base.clone();
        self.stars = 0;
        self.pointer_constant = false;
        self.pointer_space = None;
        self.dimensions = 0;
        self.name = None;
        self.initialised = false;
        self.inner = false;
        self.attributed = false;
        self.open_sized = false;
        self.later = true;
        self
    }

    /// Leaves out the size of an array; false where that cannot be: values say it, or what a parameter points to.
    pub(super) fn leaves_open(&mut self) -> bool {
        self.open_sized = true;
        let valued = matches!(self.place, Place::File | Place::Block | Place::ForFirst)
            && self.home() != Space::Local
            && !self.typedef;
        self.dimensions == 1 && (valued || matches!(self.place, Place::Parameter | Place::TypeName))
    }

    /// Where what is declared lives.
    pub(super) fn home(&self) -> Space {
        // OpenCL C 2.0: what a file declares is global.
        let default = if self.place == Place::File { Space::Global } else { Space::Private };
        let said = if self.stars > 0 || self.inner { self.pointer_space } else { self.space };
        said.unwrap_or(default)
    }

    /// The type of what is declared.
    pub(super) fn whole(&self) -> Type {
        let mut ty = self.current.clone();
        let constant = if self.stars > 0 { self.pointer_constant } else { self.constant };
        let space = if self.inner { self.space.unwrap_or(Space::Generic) } else { self.home() };
        for _ in 0..self.dimensions {
            ty = Type::Array(Arc::new(Target { ty, constant, space }));
        }
        if self.inner { Type::pointer(ty, constant, space) } else { ty }
    }

    pub(super) fn is_constant(&self) -> bool {
        self.home() == Space::Constant
            || if self.stars > 0 || self.inner { self.pointer_constant } else { self.constant }
    }
}

/// Most dimensions of an array, and most stars of a pointer, that are written.
const DIMENSIONS: u32 = 6;
const STARS: u32 = 3;

const QUALIFIERS: [&str; 26] = [
    "const",
    "volatile",
    "static",
    "inline",
    "extern",
    "typedef",
    "kernel",
    "__kernel",
    "global",
    "__global",
    "local",
    "__local",
    "constant",
    "__constant",
    "private",
    "__private",
    "generic",
    "__generic",
    "read_only",
    "__read_only",
    "write_only",
    "__write_only",
    "read_write",
    "__read_write",
    "pipe",
    "__attribute__",
];

fn space_of(word: &str) -> Option<Space> {
    Some(match word.trim_start_matches('_') {
        "global" => Space::Global,
        "local" => Space::Local,
        "constant" => Space::Constant,
        "private" => Space::Private,
        "generic" => Space::Generic,
        _ => return None,
    })
}

/// Whether a builtin type's name may begin like this.
fn type_begins(prefix: &str) -> bool {
    crate::tokenizer::TYPES.iter().chain(&OTHERS).any(|word| word.starts_with(prefix))
        || QUALIFIERS.iter().any(|word| word.starts_with(prefix))
        || ["1", "2", "3", "4", "6", "8", "16", ""]
            .iter()
            .any(|end| Type::named(&format!("{prefix}{end}")).is_some())
}

impl Parser {
    pub(super) fn begins_declaration(&self, lexeme: Lexeme<'_>) -> bool {
        if !lexeme.is_word() {
            return false;
        }
        if lexeme.partial {
            return type_begins(lexeme.text)
                || self.visible().any(|(name, symbol)| {
                    name.starts_with(lexeme.text) && matches!(symbol, Symbol::Typedef(_))
                });
        }
        if let Some(symbol) = self.lookup(lexeme.text) {
            return matches!(symbol, Symbol::Typedef(_));
        }
        QUALIFIERS.contains(&lexeme.text)
            || matches!(lexeme.text, "struct" | "union" | "enum" | "signed" | "unsigned" | "typeof")
            || Type::named(lexeme.text).is_some()
    }

    pub(super) fn specifiers(&mut self, mut d: Box<Declaration>, lexeme: Lexeme<'_>) -> Outcome {
        let word = lexeme.text;
        if d.tagged && d.ty.is_none() {
            // A struct or enumeration below has just been completed.
            d.ty = Some(std::mem::replace(&mut self.type_value, Type::Unknown));
        }
        if lexeme.partial && lexeme.is_word() && !d.is_typed() {
            return if self.begins_declaration(lexeme) {
                Ok(Step::Taken)
            } else {
                Err(Refusal::Undeclared)
            };
        }
        if QUALIFIERS.contains(&word) {
            match word {
                "const" => d.constant = true,
                "kernel" | "__kernel"
                    if d.place == Place::File
                        && d.space.is_none()
                        && !d.typedef
                        && !d.fixed_home
                        && d.ty.as_ref().is_none_or(|ty| *ty == Type::Void) =>
                {
                    d.kernel = true;
                }
                "typedef"
                    if matches!(d.place, Place::File | Place::Block)
                        && !(d.kernel || d.inline || d.fixed_home) =>
                {
                    d.typedef = true;
                }
                "pipe" if d.of_kernel && d.space.is_none() => d.pipe = true,
                "kernel" | "__kernel" | "typedef" | "pipe" => return Err(Refusal::Context),
                "static" if d.kernel => return Err(Refusal::Context),
                "static" if !matches!(d.place, Place::File | Place::Block | Place::ForFirst) => {
                    return Err(Refusal::Context);
                }
                "static" | "inline" | "extern" if d.typedef => return Err(Refusal::Context),
                "inline" | "extern" if d.place != Place::File => return Err(Refusal::Context),
                "__attribute__" => {
                    self.want(Goal::Specifiers(d));
                    self.want(Goal::Attribute(Attribute::Outer));
                    return Ok(Step::Taken);
                }
                _ => {
                    d.fixed_home |= word == "static";
                    d.inline |= word == "inline";
                    d.volatile |= word == "volatile";
                    let access = match word.trim_start_matches('_') {
                        "read_only" => Some((true, false)),
                        "write_only" => Some((false, true)),
                        "read_write" => Some((true, true)),
                        _ => d.access,
                    };
                    if d.access.is_some() && d.access != access {
                        return Err(Refusal::Context);
                    }
                    d.access = access;
                    if let Some(space) = space_of(word) {
                        if d.kernel || d.space.is_some_and(|known| known != space) {
                            return Err(Refusal::Syntax);
                        }
                        d.space = Some(space);
                    }
                }
            }
            self.want(Goal::Specifiers(d));
            return Ok(Step::Taken);
        }
        if self.kernel_only
            && !d.kernel
            && !d.is_typed()
            && d.place == Place::File
            && word != "void"
        {
            return Err(Refusal::Context);
        }
        match word {
            "struct" | "union" | "enum" if !d.is_typed() && !d.kernel => {
                d.tagged = true;
                self.want(Goal::Specifiers(d));
                self.want(match word {
                    "enum" => Goal::EnumTag(None),
                    _ => Goal::Tag { union: word == "union", name: None },
                });
                self.type_value = Type::Scalar(Scalar::Int);
                return Ok(Step::Taken);
            }
            "signed" | "unsigned"
                if !d.kernel && d.sign.is_none() && (d.ty.is_none() || d.open) =>
            {
                d.sign = Some(word == "unsigned");
                d.open = true;
                self.want(Goal::Specifiers(d));
                return Ok(Step::Taken);
            }
            _ => {}
        }
        let is_arithmetic = matches!(word, "char" | "short" | "int" | "long" | "double");
        if is_arithmetic && (d.open || d.sign.is_some()) {
            let scalar = Scalar::named(word).unwrap_or(Scalar::Int);
            let allowed = match (&d.ty, word) {
                (None, "double") => false,
                (None, _) => true,
                (Some(Type::Scalar(Scalar::Long)), "long") if d.longs < 2 => true,
                (Some(Type::Scalar(Scalar::Short | Scalar::Long)), "int") => true,
                (Some(Type::Scalar(Scalar::Int)), "short" | "long") => true,
                _ => false,
            };
            if allowed {
                d.longs += u8::from(word == "long");
                if d.ty.is_none() || word != "int" {
                    d.ty = Some(Type::Scalar(scalar));
                }
                self.want(Goal::Specifiers(d));
                return Ok(Step::Taken);
            }
            return Err(Refusal::Syntax);
        }
        if !d.is_typed() && lexeme.is_word() {
            let ty = match self.lookup(word) {
                Some(Symbol::Typedef(ty)) => Some(ty.clone()),
                Some(_) => None,
                None => Type::named(word),
            };
            let Some(ty) = ty else { return Err(Refusal::Undeclared) };
            if d.kernel && ty != Type::Void {
                return Err(Refusal::Type);
            }
            let first =
                matches!(self.goals.last(), Some(Goal::Parameters(_, all)) if all.is_empty());
            let shared = matches!(d.space, Some(Space::Global | Space::Local | Space::Constant));
            if d.of_kernel && ty == Type::Void && !first && !shared
                || matches!(ty, Type::Image { .. }) && d.place != Place::Parameter
            {
                return Err(Refusal::Context);
            }
            d.host_sized = matches!(
                word,
                "bool"
                    | "size_t"
                    | "ptrdiff_t"
                    | "intptr_t"
                    | "uintptr_t"
                    | "event_t"
                    | "ndrange_t"
                    | "reserve_id_t"
            );
            d.open = is_arithmetic;
            d.longs = u8::from(word == "long");
            d.ty = Some(ty);
            self.want(Goal::Specifiers(d));
            return Ok(Step::Taken);
        }
        if !d.is_typed() {
            return Err(Refusal::Syntax);
        }
        d.base = d.base();
        let is_image = matches!(d.base, Type::Image { .. } | Type::Unknown);
        if d.access.is_some() && !is_image && !d.pipe {
            return Err(Refusal::Context);
        }
        if let (Some(lanes), Type::Scalar(scalar)) = (self.lanes.take(), &d.base) {
            d.base = Type::of(*scalar, lanes);
        }
        d.current = d.base.clone();
        let nameless = d.tagged && !d.inline && !d.kernel;
        if word == ";" && nameless && !matches!(d.place, Place::Parameter | Place::TypeName) {
            if let (Place::Member(at), Type::Struct(inner)) = (d.place, &d.base) {
                self.adopt(at, *inner)?;
            }
            return Ok(Step::Taken);
        }
        self.want(Goal::Declarator(d));
        Ok(Step::Again)
    }

    pub(super) fn declarator(&mut self, mut d: Box<Declaration>, lexeme: Lexeme<'_>) -> Outcome {
        match lexeme.text {
            "*" => {
                let shared =
                    matches!(d.space, Some(Space::Global | Space::Local | Space::Constant));
                if d.kernel
                    || d.stars >= STARS
                    || d.of_kernel && (d.stars > 0 || !shared)
                    || !d.current.is_housed()
                {
                    return Err(Refusal::Type);
                }
                let (constant, space) = match d.stars {
                    0 => (d.constant, d.space.unwrap_or(Space::Generic)),
                    _ => (d.pointer_constant, d.pointer_space.unwrap_or(Space::Generic)),
                };
                d.current = Type::pointer(d.current.clone(), constant, space);
                d.stars += 1;
                d.pointer_constant = false;
                d.pointer_space = None;
                self.want(Goal::Declarator(d));
                return Ok(Step::Taken);
            }
            "const" | "volatile" | "restrict" if d.stars > 0 => {
                d.pointer_constant |= lexeme.text == "const";
                self.want(Goal::Declarator(d));
                return Ok(Step::Taken);
            }
            word if d.stars > 0 && space_of(word).is_some() => {
                let space = space_of(word);
                // A kernel's own pointers are private, and so is every parameter.
                if d.pointer_space.is_some_and(|known| Some(known) != space)
                    || d.of_kernel && space != Some(Space::Private)
                {
                    return Err(Refusal::Context);
                }
                d.pointer_space = space;
                self.want(Goal::Declarator(d));
                return Ok(Step::Taken);
            }
            "__attribute__" => {
                self.want(Goal::Declarator(d));
                self.want(Goal::Attribute(Attribute::Outer));
                return Ok(Step::Taken);
            }
            _ => {}
        }
        if lexeme.text == "(" && !d.inner && !d.kernel {
            self.want(Goal::Inner(d));
            return Ok(Step::Taken);
        }
        if d.place == Place::TypeName {
            if lexeme.text == "[" {
                d.dimensions += 1;
                self.want(Goal::Declarator(d));
                self.want(Goal::Size);
                return Ok(Step::Taken);
            }
            self.type_value = d.whole();
            return Ok(Step::Again);
        }
        if d.place == Place::Parameter && matches!(lexeme.text, "," | ")" | "[") {
            self.want(Goal::Named(d));
            return Ok(Step::Again);
        }
        self.name(&mut d, lexeme)?;
        self.want(Goal::Named(d));
        Ok(Step::Taken)
    }

    /// `(*name)`: a pointer to an array.
    pub(super) fn inner(&mut self, mut d: Box<Declaration>, lexeme: Lexeme<'_>) -> Outcome {
        match lexeme.text {
            "*" if !d.inner => {
                d.inner = true;
                d.pointer_constant = false;
                self.want(Goal::Inner(d));
            }
            "const" | "volatile" | "restrict" if d.inner => {
                d.pointer_constant |= lexeme.text == "const";
                self.want(Goal::Inner(d));
            }
            ")" if d.inner && d.place == Place::TypeName => self.want(Goal::Declarator(d)),
            ")" if d.inner && d.place == Place::Parameter => self.want(Goal::Named(d)),
            _ if d.inner && d.place != Place::TypeName => {
                self.name(&mut d, lexeme)?;
                self.want(Goal::Named(d));
                self.want(Goal::Exactly(")"));
            }
            _ => return Err(Refusal::Syntax),
        }
        Ok(Step::Taken)
    }

    fn name(&mut self, d: &mut Declaration, lexeme: Lexeme<'_>) -> Result<(), Refusal> {
        // What begins with `__` is the compiler's.
        if !lexeme.is_name() || lexeme.text.starts_with("__") {
            return Err(Refusal::Syntax);
        }
        let by_value = d.stars == 0 && !d.inner;
        let placed = d.pointer_space.is_some() && !by_value;
        let kept = !placed
            || d.typedef
            || match d.place {
                Place::Parameter | Place::Member(_) => d.pointer_space == Some(Space::Private),
                _ => self.houses(d),
            };
        // What a file declares may still be a function.
        let whole = by_value && !d.typedef && d.place != Place::File;
        if !kept || whole && !keeps(d) {
            return Err(Refusal::Context);
        }
        if by_value && d.place != Place::File && !d.typedef {
            let complete = match &d.current {
                ty @ Type::Struct(_) => self.is_complete(ty),
                Type::Void => false,
                ty => self.holds(ty) || d.place == Place::Parameter && d.space.is_some(),
            };
            let host_sized =
                d.of_kernel && (d.host_sized || d.current == Type::Scalar(Scalar::Bool));
            if !complete || host_sized {
                return Err(Refusal::Type);
            }
        }
        if by_value && !d.typedef && !self.houses(d) {
            return Err(Refusal::Context);
        }
        if lexeme.partial {
            return Ok(());
        }
        if CONSTANTS.contains(&lexeme.text)
            || d.place == Place::File && super::call::is_whole(lexeme.text)
        {
            return Err(Refusal::Redeclared);
        }
        let name: Name = lexeme.text.into();
        let place = d.place;
        let known = match place {
            Place::Member(at) => self.structs[at].all.iter().any(|(known, _)| *known == name),
            Place::Parameter => false,
            Place::File if self.overloadable => false,
            Place::File => match self.lookup(&name) {
                // What was declared may be defined, if it gives the same.
                Some(Symbol::Function { ty: Type::Function(known), defined: false }) => {
                    known.result != d.current
                }
                Some(Symbol::Function { ty, .. }) => *ty != Type::Unknown || d.kernel,
                other => other.is_some(),
            },
            _ => self.here().symbols.iter().any(|(known, _)| *known == name),
        };
        if known {
            return Err(Refusal::Redeclared);
        }
        d.name = Some(name);
        Ok(())
    }

    pub(super) fn named(&mut self, mut d: Box<Declaration>, lexeme: Lexeme<'_>) -> Outcome {
        match lexeme.text {
            "[" if !d.initialised => {
                let private = d.of_kernel && d.stars == 0 && d.space.is_none();
                let housed = d.current.is_housed();
                if d.current == Type::Void || private || !housed || d.dimensions >= DIMENSIONS {
                    return Err(Refusal::Type);
                }
                d.dimensions += 1;
                self.want(Goal::Named(d));
                self.want(Goal::Size);
                Ok(Step::Taken)
            }
            "(" if d.place == Place::File
                && d.dimensions == 0
                && !d.inner
                && !d.typedef
                && !d.attributed
                && !d.later
                && d.name.is_some() =>
            {
                if d.kernel && (d.current != Type::Void || d.fixed_home)
                    || d.stars == 0 && d.space.is_some()
                    || !self.holds(&d.current)
                    || !d.current.is_housed()
                {
                    return Err(Refusal::Type);
                }
                if d.name.as_ref().is_some_and(|name| super::call::is_whole(name)) {
                    return Err(Refusal::Redeclared);
                }
                self.parameter_value = None;
                d.tags = self.here().tags.len();
                self.want(Goal::Parameters(d, Vec::new()));
                Ok(Step::Taken)
            }
            // A function's stand behind its parameters.
            "__attribute__" if !d.kernel => {
                d.attributed = true;
                self.want(Goal::Named(d));
                self.want(Goal::Attribute(Attribute::Outer));
                Ok(Step::Taken)
            }
            "=" if matches!(d.place, Place::File | Place::Block | Place::ForFirst)
                && !d.initialised
                && !d.typedef
                && !d.kernel =>
            {
                // Nothing is put into an array of none.
                let empty = self.operand_value.take().is_some_and(|size| size.zero);
                if d.home() == Space::Local || d.dimensions > 0 && empty {
                    return Err(Refusal::Context);
                }
                let ty = d.whole();
                self.put(&d)?;
                d.initialised = true;
                let fixed = d.place == Place::File
                    || d.fixed_home
                    || d.home() == Space::Constant && !matches!(ty, Type::Sampler);
                self.want(Goal::Named(d));
                self.want(Goal::Initialiser { ty, fixed });
                Ok(Step::Taken)
            }
            ":" if matches!(d.place, Place::Member(_)) && !d.initialised => {
                d.initialised = true;
                self.put(&d)?;
                self.want(Goal::Named(d));
                self.want_expression(Purpose::Size);
                Ok(Step::Taken)
            }
            "," | ")" if d.place == Place::Parameter => {
                let placed = d.space.is_some_and(|space| space != Space::Private);
                if placed && d.stars == 0 && !d.inner && d.dimensions == 0 {
                    return Err(Refusal::Context);
                }
                self.parameter_value = Some(Parameter {
                    name: d.name.clone(),
                    ty: if d.pipe { Type::Unknown } else { d.whole().decayed() },
                    constant: d.is_constant(),
                    host_sized: d.host_sized && d.stars == 0 && !d.inner,
                });
                Ok(Step::Again)
            }
            "," | ";" if d.place != Place::Parameter && !d.kernel => {
                if let (Some(lanes), Type::Scalar(scalar)) = (self.lanes.take(), &d.current) {
                    d.current = Type::of(*scalar, lanes);
                }
                if d.initialised {
                    // What a constant is known to be is known of its name.
                    let given = self.operand_value.as_ref().is_some_and(Operand::is_known);
                    let one = d.dimensions == 0 && !matches!(d.current, Type::Struct(_));
                    let value = one || d.place == Place::File;
                    let fixed = given && value && d.is_constant() && d.stars == 0 && !d.volatile;
                    if let Some((_, Symbol::Variable { fixed: known, .. })) =
                        self.here().symbols.last_mut()
                    {
                        *known = fixed;
                    }
                } else {
                    let placed = matches!(d.place, Place::File | Place::Block | Place::ForFirst);
                    let unsaid = d.open_sized || d.home() == Space::Constant;
                    if placed && !d.typedef && unsaid {
                        return Err(Refusal::Syntax);
                    }
                    self.put(&d)?;
                }
                if lexeme.text == "," {
                    self.want(Goal::Declarator(d.again()));
                }
                Ok(Step::Taken)
            }
            _ => Err(Refusal::Syntax),
        }
    }

    /// Whether a lexeme can be a literal or name of the beginning of an operand.
    pub(super) fn is_literal(lexeme: Lexeme<'_>) -> bool {
        matches!(lexeme.sort, Sort::Number | Sort::Text | Sort::Letter)
    }
}

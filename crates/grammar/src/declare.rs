//! Declarations: specifiers, declarators, parameters, structs, enumerations, initializers.

use super::{
    attribute::Attribute,
    builtins::CONSTANTS,
    declaration::{Declaration, Place, space_of},
    express::Purpose,
    operand::Operand,
    parameters::Parameter,
    parser::{Goal, Lexeme, Name, Outcome, Parser, Refusal, Sort, Step, Symbol},
    storage::keeps,
    types::{OTHERS, Scalar, Space, Type},
};

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

/// Whether a builtin type's name may begin like this.
fn type_begins(prefix: &str) -> bool {
    crate::words::TYPES.iter().chain(&OTHERS).any(|word| word.starts_with(prefix))
        || QUALIFIERS.iter().any(|word| word.starts_with(prefix))
        || ["1", "2", "3", "4", "6", "8", "16", ""]
            .iter()
            .any(|end| Type::named(&format!("{prefix}{end}")).is_some())
}

/// Whether this can be nothing but a second `kernel` of one declaration: clang takes it for the first, and no
/// person writes it. A name behind the type may begin with `kernel`, not with `__`.
fn says_kernel_again(lexeme: Lexeme<'_>, typed: bool) -> bool {
    let word = lexeme.text;
    match lexeme.partial {
        false => matches!(word, "kernel" | "__kernel"),
        true => {
            word.len() > "__".len() && "__kernel".starts_with(word)
                || !typed && !word.is_empty() && "kernel".starts_with(word)
        }
    }
}

impl Parser {
    /// Behind the `[` of an array.
    pub(super) fn size(&mut self, lexeme: Lexeme<'_>) -> Outcome {
        if lexeme.text == "]" {
            let may = match self.goals.last_mut() {
                Some(Goal::Named(d) | Goal::Declarator(d)) => d.leaves_open(),
                _ => true,
            };
            return if may { Ok(Step::Taken) } else { Err(Refusal::Syntax) };
        }
        self.want_all([Parser::expression(Purpose::Size), Goal::Exactly("]")]);
        Ok(Step::Again)
    }

    /// The value of what is declared.
    pub(super) fn initializer(&mut self, ty: Type, fixed: bool, lexeme: Lexeme<'_>) -> Outcome {
        if lexeme.text == "{" {
            if matches!(ty, Type::Opaque(_) | Type::Image { .. }) {
                return Err(Refusal::Type);
            }
            self.want(Goal::List { ty, filled: false, count: Some(0), fixed });
            return Ok(Step::Taken);
        }
        if let Type::Array(target) = &ty {
            let letters = matches!(target.ty, Type::Scalar(Scalar::Char | Scalar::Uchar));
            if !letters || lexeme.sort != Sort::Text {
                return Err(Refusal::Type);
            }
        }
        self.want_expression(match fixed {
            false => Purpose::Value(ty),
            true => Purpose::Fixed(ty),
        });
        Ok(Step::Again)
    }

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
        if d.kernel && says_kernel_again(lexeme, d.is_typed()) {
            return Err(Refusal::Context);
        }
        if lexeme.partial && lexeme.is_word() && !d.is_typed() {
            return if self.begins_declaration(lexeme) {
                Ok(Step::Taken)
            } else {
                Err(Refusal::Undeclared)
            };
        }
        // Keywords and types are whole lexemes: what is being spelled is a name, which may begin like one of them.
        if lexeme.partial && lexeme.is_word() {
            self.want(Goal::Declarator(d));
            return Ok(Step::Again);
        }
        if QUALIFIERS.contains(&word) {
            let attribute = word == "__attribute__";
            if !attribute {
                d.qualify(word)?;
            }
            self.want(Goal::Specifiers(d));
            if attribute {
                self.want(Goal::Attribute(Attribute::Outer));
            }
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
            d.widen(word)?;
            self.want(Goal::Specifiers(d));
            return Ok(Step::Taken);
        }
        if !d.is_typed() && lexeme.is_word() {
            let ty = self.type_of(&d, word)?;
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
        self.specified(d, lexeme)
    }

    /// The type that a word names in a declaration.
    fn type_of(&self, d: &Declaration, word: &str) -> Result<Type, Refusal> {
        let ty = match self.lookup(word) {
            Some(Symbol::Typedef(ty)) => Some(ty.clone()),
            Some(_) => None,
            None => Type::named(word),
        };
        let Some(ty) = ty else { return Err(Refusal::Undeclared) };
        if d.kernel && ty != Type::Void {
            return Err(Refusal::Type);
        }
        let first = matches!(self.goals.last(), Some(Goal::Parameters(_, all)) if all.is_empty());
        let shared = matches!(d.space, Some(Space::Global | Space::Local | Space::Constant));
        if d.of_kernel && ty == Type::Void && !first && !shared
            || matches!(ty, Type::Image { .. }) && d.place != Place::Parameter
        {
            return Err(Refusal::Context);
        }
        Ok(ty)
    }

    /// Behind the specifiers: a declarator, or nothing where they declare a struct.
    fn specified(&mut self, mut d: Box<Declaration>, lexeme: Lexeme<'_>) -> Outcome {
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
        if lexeme.text == ";" && nameless && !matches!(d.place, Place::Parameter | Place::TypeName)
        {
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
            "[" if !d.initialized => {
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
                self.function_begins(d)
            }
            // A function's stand behind its parameters.
            "__attribute__" if !d.kernel => {
                d.attributed = true;
                self.want(Goal::Named(d));
                self.want(Goal::Attribute(Attribute::Outer));
                Ok(Step::Taken)
            }
            "=" if matches!(d.place, Place::File | Place::Block | Place::ForFirst)
                && !d.initialized
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
                d.initialized = true;
                let fixed = d.place == Place::File
                    || d.fixed_home
                    || d.home() == Space::Constant && !matches!(ty, Type::Sampler);
                self.want(Goal::Named(d));
                self.want(Goal::Initializer { ty, fixed });
                Ok(Step::Taken)
            }
            ":" if matches!(d.place, Place::Member(_)) && !d.initialized => {
                d.initialized = true;
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
            "," | ";" if d.place != Place::Parameter && !d.kernel => self.declared(d, lexeme),
            _ => Err(Refusal::Syntax),
        }
    }

    /// The first parenthesis of a function's parameters.
    fn function_begins(&mut self, mut d: Box<Declaration>) -> Outcome {
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

    /// The end of a declarator that is no parameter.
    fn declared(&mut self, mut d: Box<Declaration>, lexeme: Lexeme<'_>) -> Outcome {
        if let (Some(lanes), Type::Scalar(scalar)) = (self.lanes.take(), &d.current) {
            d.current = Type::of(*scalar, lanes);
        }
        if d.initialized {
            // What a constant is known to be is known of its name.
            let given = self.operand_value.as_ref().is_some_and(Operand::is_known);
            let one = d.dimensions == 0 && !matches!(d.current, Type::Struct(_));
            let value = one || d.place == Place::File;
            let fixed = given && value && d.is_constant() && d.stars == 0 && !d.volatile;
            if let Some((_, Symbol::Variable { fixed: known, .. })) = self.here().symbols.last_mut()
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

    /// Whether a lexeme can be a literal or name of the beginning of an operand.
    pub(super) fn is_literal(lexeme: Lexeme<'_>) -> bool {
        matches!(lexeme.sort, Sort::Number | Sort::Text | Sort::Letter)
    }
}

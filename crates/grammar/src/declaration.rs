//! A declaration while it is read.

use super::{
    parser::{Name, Refusal},
    types::{Scalar, Space, Target, Type},
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
    pub(super) initialized: bool,
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
            initialized: false,
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
        (valued || self.open_sized && self.place != Place::Parameter) && !self.initialized
    }

    pub(super) fn is_typed(&self) -> bool {
        self.ty.is_some() || self.sign.is_some()
    }

    /// The type that the specifiers make.
    pub(super) fn base(&self) -> Type {
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
    pub(super) fn again(mut self: Box<Self>) -> Box<Self> {
        self.current = self.base.clone();
        self.stars = 0;
        self.pointer_constant = false;
        self.pointer_space = None;
        self.dimensions = 0;
        self.name = None;
        self.initialized = false;
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

    /// Take a qualifier, a storage class or `kernel`.
    pub(super) fn qualify(&mut self, word: &str) -> Result<(), Refusal> {
        match word {
            "const" => self.constant = true,
            "kernel" | "__kernel"
                if self.place == Place::File
                    && self.space.is_none()
                    && !self.typedef
                    && !self.fixed_home
                    && self.ty.as_ref().is_none_or(|ty| *ty == Type::Void) =>
            {
                self.kernel = true;
            }
            "typedef"
                if matches!(self.place, Place::File | Place::Block)
                    && !(self.kernel || self.inline || self.fixed_home) =>
            {
                self.typedef = true;
            }
            "pipe" if self.of_kernel && self.space.is_none() => self.pipe = true,
            "kernel" | "__kernel" | "typedef" | "pipe" => return Err(Refusal::Context),
            "static" if self.kernel => return Err(Refusal::Context),
            "static" if !matches!(self.place, Place::File | Place::Block | Place::ForFirst) => {
                return Err(Refusal::Context);
            }
            "static" | "inline" | "extern" if self.typedef => return Err(Refusal::Context),
            "inline" | "extern" if self.place != Place::File => return Err(Refusal::Context),
            _ => {
                self.fixed_home |= word == "static";
                self.inline |= word == "inline";
                self.volatile |= word == "volatile";
                let access = match word.trim_start_matches('_') {
                    "read_only" => Some((true, false)),
                    "write_only" => Some((false, true)),
                    "read_write" => Some((true, true)),
                    _ => self.access,
                };
                if self.access.is_some() && self.access != access {
                    return Err(Refusal::Context);
                }
                self.access = access;
                if let Some(space) = space_of(word) {
                    if self.kernel || self.space.is_some_and(|known| known != space) {
                        return Err(Refusal::Syntax);
                    }
                    self.space = Some(space);
                }
            }
        }
        Ok(())
    }

    /// Take another word of an arithmetic type: `int` behind `long`.
    pub(super) fn widen(&mut self, word: &str) -> Result<(), Refusal> {
        let allowed = match (&self.ty, word) {
            (None, "double") => false,
            (None, _) => true,
            (Some(Type::Scalar(Scalar::Long)), "long") if self.longs < 2 => true,
            (Some(Type::Scalar(Scalar::Short | Scalar::Long)), "int") => true,
            (Some(Type::Scalar(Scalar::Int)), "short" | "long") => true,
            _ => false,
        };
        if !allowed {
            return Err(Refusal::Syntax);
        }
        self.longs += u8::from(word == "long");
        if self.ty.is_none() || word != "int" {
            self.ty = Some(Type::Scalar(Scalar::named(word).unwrap_or(Scalar::Int)));
        }
        Ok(())
    }
}

/// The address space that a word names.
pub(super) fn space_of(word: &str) -> Option<Space> {
    Some(match word.trim_start_matches('_') {
        "global" => Space::Global,
        "local" => Space::Local,
        "constant" => Space::Constant,
        "private" => Space::Private,
        "generic" => Space::Generic,
        _ => return None,
    })
}

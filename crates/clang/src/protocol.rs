//! What is asked of the clang worker and what it answers.
//!
//! Everything here is plain data: it crosses a pipe (postcard) and is stored in data sets (JSON).
//! Offsets are bytes into the `source` of the request; a fact about text outside of it (a builtin
//! header, a virtual include) carries no offset.

use serde::{Deserialize, Serialize};

/// The language of a program under study.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Language {
    /// OpenCL C.
    OpenCl,
    /// C.
    C,
    /// C++.
    Cxx,
    /// CUDA C++, or HIP: its device code.
    Cuda,
}

/// What the program is compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Triple {
    /// `nvptx64-nvidia-nvcl`: what CLgen, BenchPress and the feature oracles compile for.
    Nvptx64,
    /// `spir64-unknown-unknown`.
    Spir64,
    /// The machine the worker runs on.
    Host,
}

/// How a program is read and compiled; the same options give the same answer.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Options {
    /// Language of the source.
    pub language: Language,
    /// `-cl-std=`/`-std=` value, for example `CL2.0`, `CL1.2`, `c11`, `c++17`.
    pub standard: String,
    /// Compile target.
    pub triple: Triple,
    /// 0 to 3.
    pub optimisation: u8,
    /// Whether to stop before LLVM's passes: the code that they begin with at this level.
    pub front_end: bool,
    /// Whether the code is wanted for what it does alone: loops count as ones that end, so that one without an effect is dead
    /// code, and attributes, names and hints are left out of the bitcode.
    pub effect: bool,
    /// `-D` lines, `NAME` or `NAME=VALUE`.
    pub defines: Vec<String>,
    /// Virtual headers by name as an `#include` spells them; nothing else can be included but
    /// clang's own builtin headers.
    pub headers: Vec<(String, String)>,
    /// Names of virtual headers included before the source, as by `-include`.
    pub prelude: Vec<String>,
    /// Diagnostics kept per program; clang stops at as many errors.
    pub diagnostics: u32,
}

impl Options {
    /// OpenCL C 2.0 for `nvptx64-nvidia-nvcl`, unoptimised, no headers, 20 diagnostics.
    #[must_use]
    pub fn opencl() -> Options {
        Options {
            language: Language::OpenCl,
            standard: "CL2.0".into(),
            triple: Triple::Nvptx64,
            optimisation: 0,
            front_end: false,
            effect: false,
            defines: Vec::new(),
            headers: Vec::new(),
            prelude: Vec::new(),
            diagnostics: 20,
        }
    }

    /// The device code of CUDA C++ in C++17 for `nvptx64-nvidia-cuda`, unoptimised, with [`CUDA_HEADER`] before it,
    /// 20 diagnostics.
    #[must_use]
    pub fn cuda() -> Options {
        Options {
            language: Language::Cuda,
            standard: "c++17".into(),
            headers: vec![(CUDA_HEADER_NAME.into(), CUDA_HEADER.into())],
            prelude: vec![CUDA_HEADER_NAME.into()],
            ..Options::opencl()
        }
    }
}

/// The built-ins of CUDA that programs find without asking for them, in terms of OpenCL's: a function `__cl_NAME` is
/// OpenCL's `NAME`, and is called so in modules.
pub const CUDA_HEADER: &str = include_str!("cuda.h");
/// The name of [`CUDA_HEADER`].
pub const CUDA_HEADER_NAME: &str = "stampmill-cuda.h";

/// One question about one program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Request {
    /// Expand macros, conditionals and includes; comments are gone afterwards, and so are all
    /// directives but the pragmas that the compiler proper reads (`unroll`, `FP_CONTRACT`,
    /// `OPENCL EXTENSION`): without them the text could mean something else.
    /// Only text that stems from the source itself and from virtual headers is kept.
    Preprocess {
        /// The program.
        source: String,
        /// How to read it.
        options: Options,
    },
    /// Lex without preprocessing, comments included; of a preprocessed text, the tokens that the
    /// parser sees.
    Tokens {
        /// The program.
        source: String,
        /// How to read it.
        options: Options,
    },
    /// Parse and report declarations, references and kernels; `tree` adds the syntax tree.
    Parse {
        /// The program.
        source: String,
        /// How to read it.
        options: Options,
        /// Whether to answer with the tree as well.
        tree: bool,
    },
    /// Compile to bitcode, and from the same parse report whatever else is asked.
    Compile {
        /// The program.
        source: String,
        /// How to read it.
        options: Options,
        /// Whether to answer with declarations, references and kernels as well.
        facts: bool,
        /// Whether to answer with the tree as well.
        tree: bool,
        /// Whether the bitcode itself is wanted; instruction counts always come.
        bitcode: bool,
    },
    /// The -O0 IR of what `kernel` reaches, with names of values, types and functions made
    /// canonical: equal text means equal behaviour.
    CanonicalIr {
        /// The program.
        source: String,
        /// How to read it; `optimisation` is taken as 0.
        options: Options,
        /// The kernel's name in this source.
        kernel: String,
        /// Whether to answer with the text and not only with its hash.
        text: bool,
        /// Whether to answer with facts and with instruction counts as well, from the same parse.
        facts: bool,
    },
    /// Lay out by clang's own format library in the project's one code style.
    Format {
        /// The program.
        source: String,
        /// Its language.
        language: Language,
    },
    /// A kernel of CUDA, and what it reaches, in OpenCL C; an error where OpenCL C has no form of it.
    Translate {
        /// The program.
        source: String,
        /// How to read it.
        options: Options,
        /// The kernel's name without its scopes; of several instances of a template the last.
        kernel: String,
    },
    /// What a kernel does, in the form that is the same for CUDA and OpenCL: the IR without address spaces, attributes
    /// and names, its functions inlined, simplified by a fixed list of passes. Equal hashes mean equal behaviour.
    NeutralIr {
        /// The program.
        source: String,
        /// How to read it; `optimisation` is taken as 0.
        options: Options,
        /// The kernel's name, of CUDA as in [`Request::Translate`].
        kernel: String,
        /// Variables in memory of the device that become parameters behind the others: what [`Answer::moved`] names.
        moved: Vec<String>,
        /// Whether to answer with the text and not only with its hash.
        text: bool,
    },
    /// The hashes of [`Request::CanonicalIr`] for several kernels of one program, which is compiled
    /// once.
    CanonicalIrs {
        /// The program.
        source: String,
        /// How to read it; `optimisation` is taken as 0.
        options: Options,
        /// The kernels' names; those that the program lacks have no hash in the answer.
        kernels: Vec<String>,
        /// Functions that no kernel reaches: clang passes over their bodies. Were one reached after
        /// all, it would be a mere declaration in the IR, whose hash is then that of no program
        /// which defines it.
        unreached: Vec<String>,
    },
}

/// The worker's answer to a [`Request`]; a worker's death is the client's to report.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// What clang had to say, in order; an error among them means the program was rejected.
    pub diagnostics: Vec<Diagnostic>,
    /// Result of `Preprocess`, `Format`, `Translate`, and of `CanonicalIr` and `NeutralIr` where text was asked.
    pub text: Option<String>,
    /// Of `Translate`: the variables that became parameters, by their names in the module, in order.
    pub moved: Vec<String>,
    /// Result of `Tokens`.
    pub tokens: Vec<Token>,
    /// Result of `Parse`, and of `Compile` where asked.
    pub facts: Option<Facts>,
    /// Result of `Parse` and `Compile` where asked.
    pub tree: Option<Tree>,
    /// Result of `Compile`.
    pub code: Option<Code>,
    /// BLAKE-like 128-bit hash of the canonical IR, in hexadecimal.
    pub hash: Option<String>,
    /// Result of `CanonicalIrs`: kernels and their hashes, in the order asked.
    pub hashes: Vec<(String, String)>,
}

impl Answer {
    /// The first error, `None` if the program was accepted.
    #[must_use]
    pub fn first_error(&self) -> Option<&Diagnostic> {
        self.diagnostics.iter().find(|diagnostic| diagnostic.severity == Severity::Error)
    }
}

/// How serious a [`Diagnostic`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Severity {
    /// Additional information.
    Note,
    /// A warning or a remark.
    Warning,
    /// The program is rejected.
    Error,
}

/// One message of the compiler, as data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diagnostic {
    /// How serious it is.
    pub severity: Severity,
    /// clang's name for the kind, for example `err_undeclared_var_use`.
    pub kind: String,
    /// The message, one line.
    pub message: String,
    /// Where in the source, if there.
    pub offset: Option<u32>,
    /// 1-based line in the source, if there.
    pub line: Option<u32>,
    /// The identifier it is about, where clang names one.
    pub subject: Option<String>,
}

/// What kind of token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum TokenKind {
    /// A keyword of the language.
    Keyword,
    /// An identifier.
    Identifier,
    /// A numeric, character or string literal.
    Literal,
    /// Operators and punctuation.
    Punctuation,
    /// A comment (raw lexing only).
    Comment,
    /// Anything else.
    Other,
}

/// A token of the source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Token {
    /// Its kind.
    pub kind: TokenKind,
    /// Its spelling.
    pub text: String,
    /// Where it stands in the source (macro expansions: where the macro's name stands).
    pub offset: u32,
}

/// What a declaration declares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum DeclarationKind {
    /// A function that is no kernel.
    Function,
    /// An OpenCL kernel.
    Kernel,
    /// A parameter of a function.
    Parameter,
    /// A variable, global or local.
    Variable,
    /// A member of a struct or union.
    Field,
    /// A struct or union.
    Record,
    /// An enumeration.
    Enumeration,
    /// One value of an enumeration.
    Enumerator,
    /// A typedef.
    Typedef,
    /// A label.
    Label,
}

/// Something that the source itself declares (builtins are not reported).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Declaration {
    /// What it declares.
    pub kind: DeclarationKind,
    /// Its name; empty for the unnamed.
    pub name: String,
    /// Where its name stands; `None` for the unnamed.
    pub name_offset: Option<u32>,
    /// First byte of the declaration's text, specifiers and attributes included.
    pub begin: u32,
    /// One past its last byte; for file-scope declarations the closing semicolon is included, so
    /// that the declarators of one declaration share their extent. A record or enumeration that is
    /// part of a larger declaration (`struct S {...} x;`) lies within the extent of that one.
    pub end: u32,
    /// The first declaration of the same entity (its own index if it is the first).
    pub canonical: u32,
    /// The function, record or enumeration it stands in; `None` at file scope.
    pub parent: Option<u32>,
    /// The printed type: of a variable, field, parameter; what a typedef stands for; a function's
    /// signature.
    pub type_name: String,
    /// Whether this declaration is the definition.
    pub definition: bool,
}

/// A use of a declared name in the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reference {
    /// Where the name stands.
    pub offset: u32,
    /// Its length in bytes.
    pub length: u32,
    /// Index of the canonical declaration.
    pub declaration: u32,
}

/// What a parse found out about the names in a program.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Facts {
    /// In order of appearance.
    pub declarations: Vec<Declaration>,
    /// Sorted by offset, one per place.
    pub references: Vec<Reference>,
    /// The kernels with a body, in order of appearance.
    pub kernels: Vec<Kernel>,
    /// Of C and C++, the functions with a body that other files can call by name, in order of appearance: not variadic,
    /// no template, not of a class or namespace.
    pub functions: Vec<Kernel>,
    /// What reaches out of the program, in order of appearance.
    pub hazards: Vec<Hazard>,
}

/// How a program may reach out of itself: on a device whose code runs in a process of the host, into
/// that process and the system under it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum HazardKind {
    /// Assembly in a function or at file scope, or an assembler's name for something declared.
    InlineAssembly,
    /// A use of a function or variable that the program declares and does not define; of an OpenCL
    /// program only.
    NotDefined,
    /// A call or jump to an address that is computed; of an OpenCL program only.
    IndirectCall,
    /// An attribute or pragma that speaks to the linker or loader: sections, aliases, constructors.
    LinkerAttribute,
}

impl HazardKind {
    /// All of them.
    pub const ALL: [HazardKind; 4] = [
        HazardKind::InlineAssembly,
        HazardKind::NotDefined,
        HazardKind::IndirectCall,
        HazardKind::LinkerAttribute,
    ];

    /// Its word in data sets: the verdict of a program that has one.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            HazardKind::InlineAssembly => "inline-assembly",
            HazardKind::NotDefined => "not-defined",
            HazardKind::IndirectCall => "indirect-call",
            HazardKind::LinkerAttribute => "linker-attribute",
        }
    }
}

/// Something in a program that reaches out of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hazard {
    /// How.
    pub kind: HazardKind,
    /// The name, the attribute, the place.
    pub detail: String,
    /// Index of the declaration of file scope that it is part of; `None` where it stands for itself.
    pub declaration: Option<u32>,
}

/// The interface of an OpenCL kernel, or of a function of C or C++.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Kernel {
    /// Index of its declaration (the definition).
    pub declaration: u32,
    /// Its name.
    pub name: String,
    /// In order.
    pub arguments: Vec<Argument>,
    /// `reqd_work_group_size`, if given.
    pub required_group_size: Option<[u32; 3]>,
    /// How many dimensions of the index space its code and callees ask for (1 to 3).
    pub dimensions: u8,
}

/// One argument of a kernel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Argument {
    /// Its name.
    pub name: String,
    /// The type as printed.
    pub type_name: String,
    /// The type as data.
    pub r#type: Type,
    /// Whether the pointee or the object is `const`.
    pub constant: bool,
    /// Whether some value read through it (of a scalar: its value) is used as an index or in
    /// address arithmetic.
    pub indexes: bool,
    /// Whether anything is read through it.
    pub read: bool,
    /// Whether anything is written through it.
    pub written: bool,
}

/// OpenCL address spaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum AddressSpace {
    /// `__private`.
    Private,
    /// `__global`.
    Global,
    /// `__constant`.
    Constant,
    /// `__local`.
    Local,
    /// `__generic`.
    Generic,
}

/// A scalar type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Scalar {
    /// `bool`.
    Bool,
    /// Signed integer.
    Signed,
    /// Unsigned integer.
    Unsigned,
    /// Floating point.
    Float,
}

/// A type with the layout it has on the target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Type {
    /// A scalar of a width.
    Scalar {
        /// Which kind of scalar.
        scalar: Scalar,
        /// Width in bytes.
        size_bytes: u32,
    },
    /// An OpenCL vector; three lanes take the room of four.
    Vector {
        /// Its elements' kind.
        scalar: Scalar,
        /// Width of one element in bytes.
        size_bytes: u32,
        /// 2, 3, 4, 8 or 16.
        lanes: u32,
    },
    /// A pointer.
    Pointer {
        /// Where it points.
        space: AddressSpace,
        /// What it points to.
        pointee: Box<Type>,
    },
    /// An array of fixed length.
    Array {
        /// Its elements.
        element: Box<Type>,
        /// How many.
        length: u64,
    },
    /// A struct.
    Struct {
        /// Its name, empty if unnamed.
        name: String,
        /// Size in bytes.
        size_bytes: u64,
        /// Alignment in bytes.
        align_bytes: u32,
        /// In order.
        fields: Vec<Field>,
    },
    /// A union, as its bytes.
    Union {
        /// Its name, empty if unnamed.
        name: String,
        /// Size in bytes.
        size_bytes: u64,
        /// Alignment in bytes.
        align_bytes: u32,
    },
    /// An image, for example `image2d_t`.
    Image {
        /// The type's name without its access qualifier.
        kind: String,
        /// Whether the kernel may read it.
        read: bool,
        /// Whether the kernel may write it.
        write: bool,
    },
    /// `sampler_t`.
    Sampler,
    /// `void`, as a pointee.
    Void,
    /// Anything else (events, queues, pipes), by its name.
    Opaque(String),
}

/// A member of a struct.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Bytes from the start of the struct.
    pub offset_bytes: u64,
    /// Its type.
    pub r#type: Type,
}

/// A compiled program.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Code {
    /// LLVM 19 bitcode; empty unless asked for.
    #[serde(with = "serde_bytes")]
    pub bitcode: Vec<u8>,
    /// Instructions of each function with a body.
    pub functions: Vec<FunctionSize>,
}

/// A compiled function's size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FunctionSize {
    /// Its name.
    pub name: String,
    /// Whether it is a kernel.
    pub kernel: bool,
    /// IR instructions.
    pub instructions: u32,
}

/// The syntax tree of what the source itself declares, in preorder.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Tree {
    /// Strings that nodes name by index.
    pub strings: Vec<String>,
    /// In preorder; a node's subtree is the `size` nodes from its own place on.
    pub nodes: Vec<Node>,
}

/// A node of a [`Tree`]: a declaration, statement or expression, implicit casts included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Node {
    /// clang's class name (`BinaryOperator`, `ImplicitCastExpr`), in `strings`.
    pub kind: u32,
    /// The printed type of an expression or declared value, in `strings`; empty string if none.
    pub type_name: u32,
    /// Operator spelling, cast kind, literal value, declared or referenced name, in `strings`.
    pub text: u32,
    /// Index into `Facts::declarations` of what is declared or referenced, or `u32::MAX`.
    pub declaration: u32,
    /// First byte in the source, or `u32::MAX`.
    pub begin: u32,
    /// One past the last byte, or `u32::MAX`.
    pub end: u32,
    /// Nodes in the subtree, this one included.
    pub size: u32,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn bytes_in_one_piece_are_written_as_a_list_of_them(bitcode: Vec<u8>) {
            let size = FunctionSize { name: "A".into(), kernel: true, instructions: 3 };
            let code = Code { bitcode: bitcode.clone(), functions: vec![size] };
            let written = postcard::to_stdvec(&code).expect("plain data");
            let list = postcard::to_stdvec(&(bitcode, &code.functions)).expect("plain data");
            prop_assert_eq!(&written, &list);
            prop_assert_eq!(postcard::from_bytes::<Code>(&written), Ok(code));
        }
    }
}

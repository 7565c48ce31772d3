//! The whole boundary to C++: one call to start, one to answer, plain data both ways.
//!
//! No pointer crosses it, owning or not: C++ borrows what is asked for the length of one call and
//! returns values. Lists that nest in [`clang::Answer`] are flat here (`first`/`count` ranges,
//! preorder), because shared structures cannot be recursive; `convert` folds them up again.

pub(crate) use ffi::{
    Declaration, Diagnostic, FunctionSize, Kernel, Node, Outcome, Query, Task, Text, Token,
    TypeClass, TypeNode, answer, start, version,
};

/// Stands for "none" in offsets and indices.
pub(crate) const NONE: u32 = u32::MAX;

#[cxx::bridge(namespace = "stampmill")]
mod ffi {
    /// What is asked.
    #[repr(u8)]
    enum Task {
        Preprocess,
        Tokens,
        Parse,
        Compile,
        CanonicalIr,
        Format,
        Translate,
        NeutralIr,
    }

    /// A named text: a virtual header.
    struct Text<'a> {
        name: &'a str,
        text: &'a str,
    }

    struct Query<'a> {
        task: Task,
        source: &'a str,
        /// Name under which the source is compiled.
        path: &'a str,
        /// Arguments of clang's compiler proper (`-cc1`), without input and output.
        arguments: Vec<String>,
        headers: Vec<Text<'a>>,
        /// The function whose canonical IR is wanted.
        kernel: &'a str,
        /// Whether `kernel` holds several names, one per line.
        several: bool,
        /// Functions whose bodies are not parsed for canonical IR; variables that become parameters of neutral IR.
        skipped: Vec<String>,
        facts: bool,
        tree: bool,
        bitcode: bool,
        /// Diagnostics kept.
        diagnostics: u32,
    }

    struct Diagnostic {
        /// 0 note, 1 warning, 2 error.
        severity: u8,
        kind: String,
        message: String,
        offset: u32,
        line: u32,
        subject: String,
    }

    struct Token {
        /// In the order of `clang::TokenKind`.
        kind: u8,
        text: String,
        offset: u32,
    }

    struct Declaration {
        /// In the order of `clang::DeclarationKind`.
        kind: u8,
        name: String,
        name_offset: u32,
        begin: u32,
        end: u32,
        canonical: u32,
        parent: u32,
        type_name: String,
        definition: bool,
    }

    struct Reference {
        offset: u32,
        length: u32,
        declaration: u32,
    }

    struct Hazard {
        /// In the order of `clang::HazardKind`.
        kind: u8,
        detail: String,
        /// Declaration of file scope that it is part of.
        declaration: u32,
    }

    struct Kernel {
        declaration: u32,
        name: String,
        /// Its arguments are `arguments[first..first + count]`.
        first: u32,
        count: u32,
        has_group_size: bool,
        group_size: [u32; 3],
        dimensions: u8,
        /// Of OpenCL; else it is a function.
        kernel: bool,
    }

    struct Argument {
        name: String,
        type_name: String,
        /// Where its type's root stands in `types`.
        type_index: u32,
        constant: bool,
        indexes: bool,
        read: bool,
        written: bool,
    }

    /// What a [`TypeNode`] is, in the order of `clang::Type`.
    #[repr(u8)]
    enum TypeClass {
        Scalar,
        Vector,
        Pointer,
        Array,
        Struct,
        Union,
        Image,
        Sampler,
        Void,
        Opaque,
    }

    /// A type in preorder: its `children` follow it.
    struct TypeNode {
        class_: TypeClass,
        /// In the order of `clang::Scalar`.
        scalar: u8,
        /// In the order of `clang::AddressSpace`.
        space: u8,
        read: bool,
        write: bool,
        /// Size of a scalar, of a vector's element, of a record.
        size_bytes: u64,
        align_bytes: u32,
        /// Lanes of a vector, length of an array.
        length: u64,
        /// Of a record, image or opaque type.
        name: String,
        /// Name and place as a member of the enclosing record.
        field: String,
        offset_bytes: u64,
        children: u32,
    }

    struct Node {
        kind: u32,
        type_name: u32,
        text: u32,
        declaration: u32,
        begin: u32,
        end: u32,
        size: u32,
    }

    struct FunctionSize {
        name: String,
        kernel: bool,
        instructions: u32,
    }

    #[derive(Default)]
    struct Outcome {
        diagnostics: Vec<Diagnostic>,
        /// Whether `text` was produced.
        has_text: bool,
        text: String,
        tokens: Vec<Token>,
        has_facts: bool,
        declarations: Vec<Declaration>,
        references: Vec<Reference>,
        hazards: Vec<Hazard>,
        kernels: Vec<Kernel>,
        arguments: Vec<Argument>,
        types: Vec<TypeNode>,
        has_tree: bool,
        strings: Vec<String>,
        nodes: Vec<Node>,
        has_code: bool,
        bitcode: Vec<u8>,
        functions: Vec<FunctionSize>,
        /// Variables that a translation made parameters of.
        moved: Vec<String>,
    }

    extern "Rust" {
        /// Adds `bytes` at the end of `to`; C++ alone would add one after another.
        fn append(to: &mut Vec<u8>, bytes: &[u8]);
    }

    unsafe extern "C++" {
        include!("stampmill-clang-worker/cpp/shim.h");

        /// clang's full version.
        fn version() -> String;

        /// Prepares the process once: targets, clang's own headers, and the folders of the host
        /// below which programs may read.
        fn start(headers: &[Text<'_>], host_folders: &[String]);

        /// Answers one question. Whatever the program does to clang happens inside this call: it
        /// may end the process, never corrupt what it returns.
        fn answer(query: &Query<'_>) -> Outcome;
    }
}

fn append(to: &mut Vec<u8>, bytes: &[u8]) {
    to.extend_from_slice(bytes);
}

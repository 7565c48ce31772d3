//! Requests into queries, outcomes into answers.

use crate::{
    arguments::{arguments, canonical_arguments, path},
    bridge::{self, NONE, Outcome, Query, Task, Text},
    headers::HostHeaders,
};
use clang::{
    AddressSpace, Answer, Argument, Code, Declaration, DeclarationKind, Diagnostic, Facts, Field,
    FunctionSize, Hazard, HazardKind, Kernel, Node, Options, Reference, Request, Scalar, Severity,
    Token, TokenKind, Tree, Type,
};

/// Have clang answer `request`; `host` are headers it may include as well.
pub(crate) fn answer(request: &Request, host: &HostHeaders) -> Answer {
    match request {
        Request::Preprocess { source, options } => {
            ask(query(Task::Preprocess, source, options, host))
        }
        Request::Tokens { source, options } => ask(query(Task::Tokens, source, options, host)),
        Request::Parse { source, options, tree } => {
            let parse = query(Task::Parse, source, options, host);
            ask(Query { facts: true, tree: *tree, ..parse })
        }
        Request::Compile { source, options, facts, tree, bitcode } => {
            let compile = query(Task::Compile, source, options, host);
            ask(Query { facts: *facts, tree: *tree, bitcode: *bitcode, ..compile })
        }
        Request::CanonicalIr { source, options, kernel, text, facts } => {
            let canonical = query(Task::CanonicalIr, source, options, host);
            let arguments = canonical_arguments(options, host);
            let mut answer = ask(Query { kernel, arguments, facts: *facts, ..canonical });
            answer.hash = answer.text.as_deref().map(hash);
            answer.text = answer.text.filter(|_| *text);
            answer
        }
        Request::CanonicalIrs { source, options, kernels, unreached } => {
            let canonical = query(Task::CanonicalIr, source, options, host);
            let arguments = canonical_arguments(options, host);
            let mut answer = ask(Query {
                kernel: &kernels.join("\n"),
                several: true,
                skipped: unreached.clone(),
                arguments,
                ..canonical
            });
            // One text per kernel that is there, each behind its name and a NUL.
            let texts = answer.text.take().unwrap_or_default();
            let mut pieces = texts.split('\0');
            while let (Some(kernel), Some(text)) = (pieces.next(), pieces.next()) {
                answer.hashes.push((kernel.to_owned(), hash(text)));
            }
            answer
        }
        Request::Translate { source, options, kernel } => {
            let translate = query(Task::Translate, source, options, host);
            ask(Query { kernel, ..translate })
        }
        Request::NeutralIr { source, options, kernel, moved, text } => {
            let neutral = query(Task::NeutralIr, source, options, host);
            let arguments = canonical_arguments(options, host);
            let mut answer = ask(Query { kernel, arguments, skipped: moved.clone(), ..neutral });
            answer.hash = answer.text.as_deref().map(hash);
            answer.text = answer.text.filter(|_| *text);
            answer
        }
        Request::Format { source, language } => ask(Query {
            path: path(*language),
            ..query(Task::Format, source, &Options::opencl(), &HostHeaders::default())
        }),
    }
}

fn query<'a>(task: Task, source: &'a str, options: &'a Options, host: &HostHeaders) -> Query<'a> {
    Query {
        task,
        source,
        path: path(options.language),
        arguments: arguments(options, host),
        headers: options.headers.iter().map(|(name, text)| Text { name, text }).collect(),
        kernel: "",
        several: false,
        skipped: Vec::new(),
        facts: false,
        tree: false,
        bitcode: false,
        diagnostics: options.diagnostics,
    }
}

fn hash(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex()[..32].to_owned()
}

fn ask(query: Query<'_>) -> Answer {
    let outcome = bridge::answer(&query);
    Answer {
        facts: outcome.has_facts.then(|| facts(&outcome)),
        tree: outcome.has_tree.then(|| Tree {
            strings: outcome.strings,
            nodes: outcome.nodes.into_iter().map(node).collect(),
        }),
        code: outcome.has_code.then(|| Code {
            bitcode: outcome.bitcode,
            functions: outcome.functions.into_iter().map(function_size).collect(),
        }),
        diagnostics: outcome.diagnostics.into_iter().map(diagnostic).collect(),
        text: outcome.has_text.then_some(outcome.text),
        moved: outcome.moved,
        tokens: outcome.tokens.into_iter().map(token).collect(),
        hash: None,
        hashes: Vec::new(),
    }
}

fn some(value: u32) -> Option<u32> {
    (value != NONE).then_some(value)
}

fn diagnostic(from: bridge::Diagnostic) -> Diagnostic {
    Diagnostic {
        severity: match from.severity {
            0 => Severity::Note,
            1 => Severity::Warning,
            _ => Severity::Error,
        },
        kind: from.kind,
        message: from.message,
        offset: some(from.offset),
        line: some(from.line),
        subject: Some(from.subject).filter(|subject| !subject.is_empty()),
    }
}

fn token(from: bridge::Token) -> Token {
    const KINDS: [TokenKind; 6] = [
        TokenKind::Keyword,
        TokenKind::Identifier,
        TokenKind::Literal,
        TokenKind::Punctuation,
        TokenKind::Comment,
        TokenKind::Other,
    ];
    Token { kind: KINDS[usize::from(from.kind)], text: from.text, offset: from.offset }
}

fn node(from: bridge::Node) -> Node {
    let bridge::Node { kind, type_name, text, declaration, begin, end, size } = from;
    Node { kind, type_name, text, declaration, begin, end, size }
}

fn function_size(from: bridge::FunctionSize) -> FunctionSize {
    FunctionSize { name: from.name, kernel: from.kernel, instructions: from.instructions }
}

fn facts(outcome: &Outcome) -> Facts {
    let called = |kernels| {
        let wanted = outcome.kernels.iter().filter(|from| from.kernel == kernels);
        wanted.map(|from| kernel(from, outcome)).collect()
    };
    Facts {
        declarations: outcome.declarations.iter().map(declaration).collect(),
        references: outcome
            .references
            .iter()
            .map(|from| Reference {
                offset: from.offset,
                length: from.length,
                declaration: from.declaration,
            })
            .collect(),
        kernels: called(true),
        functions: called(false),
        hazards: outcome
            .hazards
            .iter()
            .map(|from| Hazard {
                kind: HazardKind::ALL[usize::from(from.kind)],
                detail: from.detail.clone(),
                declaration: some(from.declaration),
            })
            .collect(),
    }
}

fn declaration(from: &bridge::Declaration) -> Declaration {
    const KINDS: [DeclarationKind; 10] = [
        DeclarationKind::Function,
        DeclarationKind::Kernel,
        DeclarationKind::Parameter,
        DeclarationKind::Variable,
        DeclarationKind::Field,
        DeclarationKind::Record,
        DeclarationKind::Enumeration,
        DeclarationKind::Enumerator,
        DeclarationKind::Typedef,
        DeclarationKind::Label,
    ];
    Declaration {
        kind: KINDS[usize::from(from.kind)],
        name: from.name.clone(),
        name_offset: some(from.name_offset),
        begin: from.begin,
        end: from.end,
        canonical: from.canonical,
        parent: some(from.parent),
        type_name: from.type_name.clone(),
        definition: from.definition,
    }
}

fn kernel(from: &bridge::Kernel, outcome: &Outcome) -> Kernel {
    let (first, count) = (from.first as usize, from.count as usize);
    Kernel {
        declaration: from.declaration,
        name: from.name.clone(),
        arguments: outcome.arguments[first..first + count]
            .iter()
            .map(|argument| Argument {
                name: argument.name.clone(),
                type_name: argument.type_name.clone(),
                r#type: fold(&outcome.types, &mut (argument.type_index as usize)),
                constant: argument.constant,
                indexes: argument.indexes,
                read: argument.read,
                written: argument.written,
            })
            .collect(),
        required_group_size: from.has_group_size.then_some(from.group_size),
        dimensions: from.dimensions,
    }
}

/// The type whose preorder starts at `next`, which is moved past it.
fn fold(types: &[bridge::TypeNode], next: &mut usize) -> Type {
    use bridge::TypeClass;
    let from = &types[*next];
    *next += 1;
    let scalar =
        [Scalar::Bool, Scalar::Signed, Scalar::Unsigned, Scalar::Float][usize::from(from.scalar)];
    let size_bytes = from.size_bytes;
    match from.class_ {
        TypeClass::Scalar => Type::Scalar { scalar, size_bytes: size_bytes as u32 },
        TypeClass::Vector => {
            Type::Vector { scalar, size_bytes: size_bytes as u32, lanes: from.length as u32 }
        }
        TypeClass::Pointer => {
            const SPACES: [AddressSpace; 5] = [
                AddressSpace::Private,
                AddressSpace::Global,
                AddressSpace::Constant,
                AddressSpace::Local,
                AddressSpace::Generic,
            ];
            let space = SPACES[usize::from(from.space)];
            Type::Pointer { space, pointee: Box::new(fold(types, next)) }
        }
        TypeClass::Array => {
            Type::Array { length: from.length, element: Box::new(fold(types, next)) }
        }
        TypeClass::Struct => Type::Struct {
            name: from.name.clone(),
            size_bytes,
            align_bytes: from.align_bytes,
            fields: (0..from.children)
                .map(|_| {
                    let field = &types[*next];
                    Field {
                        name: field.field.clone(),
                        offset_bytes: field.offset_bytes,
                        r#type: fold(types, next),
                    }
                })
                .collect(),
        },
        TypeClass::Union => {
            Type::Union { name: from.name.clone(), size_bytes, align_bytes: from.align_bytes }
        }
        TypeClass::Image => {
            Type::Image { kind: from.name.clone(), read: from.read, write: from.write }
        }
        TypeClass::Sampler => Type::Sampler,
        TypeClass::Void => Type::Void,
        _ => Type::Opaque(from.name.clone()),
    }
}

//! The targets, one a file.

mod archive;
mod bitcode;
mod closing;
mod commands;
mod copyright;
mod dsc;
mod elf;
mod grammar;
mod http;
mod jsonl;
mod lexer;
mod list;
mod literals;
mod manifest;
mod module;
mod object;
mod package;
mod request;
mod samples;
mod settings;
mod tables;
mod targets;
mod tools;

/// Each by its name.
pub const TARGETS: &[(&str, fn(&[u8]))] = &[
    ("archive", archive::run),
    ("bitcode", bitcode::run),
    ("closing", closing::run),
    ("commands", commands::run),
    ("copyright", copyright::run),
    ("dsc", dsc::run),
    ("elf", elf::run),
    ("grammar", grammar::run),
    ("http", http::run),
    ("jsonl", jsonl::run),
    ("lexer", lexer::run),
    ("list", list::run),
    ("literals", literals::run),
    ("manifest", manifest::run),
    ("module", module::run),
    ("object", object::run),
    ("package", package::run),
    ("request", request::run),
    ("samples", samples::run),
    ("settings", settings::run),
    ("tables", tables::run),
    ("targets", targets::run),
    ("tools", tools::run),
];

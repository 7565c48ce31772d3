use crate::repair::is_assembly;
use clang::{Answer, Clang, Diagnostic, Facts, HazardKind, Language, Options, Request, Severity};
use dataset::Verdict;
use lexer::Kind;
use rows::KernelVerdict;
use sandbox::Death;
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

/// clang with its deaths turned into verdicts about the program it died of.
#[derive(Debug)]
pub struct Compiler {
    clang: Arc<Clang>,
    /// The first fault of the machine: what came of it is no verdict on any program.
    fault: Mutex<Option<Death>>,
}

impl Compiler {
    pub(crate) fn new(clang: impl Into<Arc<Clang>>) -> Compiler {
        Compiler { clang: clang.into(), fault: Mutex::default() }
    }

    /// The limit of one question on the wall.
    pub(crate) fn limit(&self) -> Duration {
        self.clang.limit()
    }

    fn ask(&self, request: &Request) -> Result<Answer, Verdict> {
        self.clang.ask(request).map_err(|death| {
            let verdict = verdict_of(&death);
            if death.is_ours() {
                self.fault.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(death);
            }
            verdict
        })
    }

    /// # Errors
    /// That clang failed since this was last asked: rows made in between are not to be kept.
    pub(crate) fn works(&self) -> Result<(), clang::Error> {
        match self.fault.lock().unwrap_or_else(PoisonError::into_inner).take() {
            None => Ok(()),
            Some(death) => {
                let worker = self.clang.worker().to_owned();
                Err(clang::Error::CannotStart { worker, death })
            }
        }
    }

    /// The preprocessed text, and the errors on the way.
    pub(crate) fn preprocess(
        &self,
        source: &str,
        options: Options,
    ) -> Result<(String, Vec<Diagnostic>), Verdict> {
        let answer = self.ask(&Request::Preprocess { source: source.to_owned(), options })?;
        let errors = errors(answer.diagnostics);
        Ok((answer.text.unwrap_or_default(), errors))
    }

    /// Names and kernels of a program, and its errors.
    pub(crate) fn parse(
        &self,
        source: &str,
        options: Options,
    ) -> Result<(Facts, Vec<Diagnostic>), Verdict> {
        let answer =
            self.ask(&Request::Parse { source: source.to_owned(), options, tree: false })?;
        Ok((answer.facts.unwrap_or_default(), errors(answer.diagnostics)))
    }

    /// Names, kernels and instruction counts of a program that compiles.
    pub(crate) fn compile(
        &self,
        source: &str,
        options: Options,
    ) -> Result<(Facts, clang::Code), Verdict> {
        let answer = self.ask(&Request::Compile {
            source: source.to_owned(),
            options,
            facts: true,
            tree: false,
            bitcode: false,
        })?;
        if let Some(error) = answer.first_error() {
            return Err(does_not_compile(error, source));
        }
        let no_code = || Verdict::new(DOES_NOT_COMPILE, "clang gave no code");
        answer.facts.zip(answer.code).ok_or_else(no_code)
    }

    /// The code of a program that compiles.
    pub(crate) fn bitcode(&self, source: &str, options: Options) -> Result<Vec<u8>, Verdict> {
        let (text, source) = (source, source.to_owned());
        let request =
            Request::Compile { source, options, facts: false, tree: false, bitcode: true };
        let answer = self.ask(&request)?;
        match answer.first_error() {
            Some(error) => Err(does_not_compile(error, text)),
            None => Ok(answer.code.unwrap_or_default().bitcode),
        }
    }

    /// Names, kernels and instruction counts of a program that compiles, and the hash of a kernel's
    /// canonical IR.
    pub(crate) fn compile_and_hash(
        &self,
        source: &str,
        options: Options,
        kernel: &str,
    ) -> Result<(Facts, clang::Code, String), Verdict> {
        let (text, kernel) = (source, kernel.to_owned());
        let source = text.to_owned();
        let request = Request::CanonicalIr { source, options, kernel, text: false, facts: true };
        let answer = self.ask(&request)?;
        if let Some(error) = answer.first_error() {
            return Err(does_not_compile(error, text));
        }
        match (answer.facts, answer.code, answer.hash) {
            (Some(facts), Some(code), Some(hash)) => Ok((facts, code, hash)),
            _ => Err(Verdict::new(DOES_NOT_COMPILE, "clang gave no code")),
        }
    }

    /// The hashes of several kernels' canonical IR, by kernel; `unreached` are functions that none
    /// of them reaches.
    pub(crate) fn canonical_irs(
        &self,
        source: &str,
        options: Options,
        kernels: &[String],
        unreached: &[String],
    ) -> Result<BTreeMap<String, String>, Verdict> {
        let (text, source, kernels) = (source, source.to_owned(), kernels.to_vec());
        let unreached = unreached.to_vec();
        let answer = self.ask(&Request::CanonicalIrs { source, options, kernels, unreached })?;
        match answer.first_error() {
            Some(error) => Err(does_not_compile(error, text)),
            None => Ok(answer.hashes.into_iter().collect()),
        }
    }

    /// A kernel of CUDA in OpenCL C, and the variables that became parameters of it; the verdict where there is no
    /// such form.
    pub(crate) fn translate(
        &self,
        source: &str,
        options: Options,
        kernel: &str,
    ) -> Result<(String, Vec<String>), Verdict> {
        let (text, kernel) = (source, kernel.to_owned());
        let source = text.to_owned();
        let answer = self.ask(&Request::Translate { source, options, kernel })?;
        match (answer.first_error(), answer.text.clone()) {
            (None, Some(text)) => Ok((text, answer.moved)),
            // What the translator says is a verdict's word.
            (Some(error), _) if KernelVerdict::ALL.iter().any(|one| one.name() == error.kind) => {
                Err(Verdict { name: error.kind.clone().into(), detail: error.message.clone() })
            }
            (Some(error), _) => Err(does_not_compile(error, text)),
            (None, None) => Err(Verdict::new(KernelVerdict::NotCLike, "clang gave no text")),
        }
    }

    /// The hash of a kernel's neutral IR, the same for CUDA and OpenCL; `moved` became parameters of it.
    pub(crate) fn neutral_ir(
        &self,
        source: &str,
        options: Options,
        kernel: &str,
        moved: &[String],
    ) -> Result<String, Verdict> {
        let (kernel, moved) = (kernel.to_owned(), moved.to_vec());
        let (text, source) = (source, source.to_owned());
        let request = Request::NeutralIr { source, options, kernel, moved, text: false };
        let answer = self.ask(&request)?;
        match (answer.first_error(), answer.hash.clone()) {
            (None, Some(hash)) => Ok(hash),
            (Some(error), _) => Err(does_not_compile(error, text)),
            (None, None) => Err(Verdict::new(DOES_NOT_COMPILE, "clang gave no code")),
        }
    }

    /// The text in the one code style.
    pub(crate) fn format(&self, source: &str) -> Result<String, Verdict> {
        self.format_as(source, Language::OpenCl)
    }

    /// The text in a language in the one code style.
    pub(crate) fn format_as(&self, source: &str, language: Language) -> Result<String, Verdict> {
        let request = Request::Format { source: source.to_owned(), language };
        Ok(self.ask(&request)?.text.unwrap_or_default())
    }
}

/// The verdict of what clang rejects.
pub(crate) const DOES_NOT_COMPILE: &str = KernelVerdict::DoesNotCompile.name();

/// An error of clang's in the `text` that it read. The line is quoted, since its number is not that of the user's file:
/// what the text includes and what was inferred for it stand before.
pub(crate) fn does_not_compile(error: &Diagnostic, text: &str) -> Verdict {
    let line = error.line.and_then(|line| text.lines().nth((line as usize).checked_sub(1)?));
    rejected_at(error, text, line.map(str::trim))
}

/// The same with the statement that the error lies in, of a text that is no longer laid out in lines.
pub(crate) fn does_not_compile_within(error: &Diagnostic, text: &str) -> Verdict {
    let at = error.offset.map(|at| at as usize).filter(|at| text.is_char_boundary(*at));
    rejected_at(error, text, at.map(|at| statement_at(text, at)))
}

/// From behind the last end of a statement to its own.
fn statement_at(text: &str, at: usize) -> &str {
    let ends = |byte: char| matches!(byte, ';' | '{' | '}');
    let start = text[..at].rfind(ends).map_or(0, |end| end + 1);
    let end = text[at..].find(ends).map_or(text.len(), |end| at + end + 1);
    text[start..end].trim().trim_end_matches(['{', '}']).trim_end()
}

fn rejected_at(error: &Diagnostic, text: &str, line: Option<&str>) -> Verdict {
    let line = line.filter(|line| !line.is_empty());
    let place = line.map(|line| format!(", in {}", lexer::quoted(line)));
    let place = place.unwrap_or_default();
    // Assembly is always some machine's, and clang reads it as that of another, or does not know its
    // word in this language.
    let assembly = error.kind.starts_with("err_asm")
        || error.kind.contains("inline_asm")
        || error.subject.as_deref().is_some_and(is_assembly);
    let name = if assembly { HazardKind::InlineAssembly.name() } else { DOES_NOT_COMPILE };
    Verdict::new(name, format!("{}{place}", named(&error.message, text)))
}

/// How clang begins the place of a structure without a tag, which is one in the `text` that it read and in no file.
const UNTAGGED: [&str; 8] = [
    "(unnamed at ",
    "(unnamed struct at ",
    "(unnamed union at ",
    "(unnamed enum at ",
    "(anonymous at ",
    "(anonymous struct at ",
    "(anonymous union at ",
    "(anonymous enum at ",
];

/// What such a place may be of.
const TAGGED: [&str; 3] = ["struct", "union", "enum"];

/// A message with the name of a type in the place of where its structure stands, or with the word for it.
fn named(message: &str, text: &str) -> String {
    let mut said = message.to_owned();
    while let Some(begin) = UNTAGGED.iter().filter_map(|word| said.find(word)).min() {
        let Some(length) = said[begin..].find(')') else { break };
        let (before, end) = (&said[..begin], begin + length + 1);
        let place = &said[begin..end - 1];
        let head = before.trim_end();
        let word = TAGGED.into_iter().find(|word| head.ends_with(word) || place.contains(word));
        let word = word.unwrap_or(TAGGED[0]);
        let start = head.strip_suffix(word).map_or(begin, str::len);
        // The name stands before what it is an alias of.
        if said[..start].ends_with(ALIAS) && said[end..].starts_with("')") {
            said.replace_range(start - ALIAS.len()..end + 2, "");
            continue;
        }
        match alias_at(place, text) {
            Some(name) => said.replace_range(start..end, name),
            None if said[..start].ends_with('\'') && said[end..].starts_with('\'') => {
                said.replace_range(start - 1..end + 1, &format!("a {word}"));
            }
            None => said.replace_range(start..end, word),
        }
    }
    said
}

/// How clang says what type a name stands for.
const ALIAS: &str = " (aka '";

/// The name that a `typedef` gives the structure at a place `...:LINE:COLUMN` of the text.
fn alias_at<'a>(place: &str, text: &'a str) -> Option<&'a str> {
    let mut numbers = place.rsplit(':').map(str::parse::<usize>);
    let (column, line) = (numbers.next()?.ok()?, numbers.next()?.ok()?);
    let before: usize = text.split_inclusive('\n').take(line.checked_sub(1)?).map(str::len).sum();
    let (head, structure) = text.split_at_checked(before + column.checked_sub(1)?)?;
    let is_alias = head.trim_end().ends_with("typedef")
        && TAGGED.iter().any(|word| structure.starts_with(word));
    let (mut depth, mut is_closed) = (0_i32, false);
    for token in lexer::tokens(structure).take_while(|_| is_alias) {
        match token.text {
            "{" | "(" => depth += 1,
            "}" | ")" => {
                depth -= 1;
                is_closed |= depth == 0 && token.is("}");
            }
            ";" if depth == 0 => break,
            "__attribute__" => {}
            name if is_closed && depth == 0 && token.kind == Kind::Word => return Some(name),
            _ => {}
        }
    }
    None
}

/// The verdict of a program that reaches out of itself; `None` of one that does not.
pub(crate) fn reaching(facts: &Facts) -> Option<Verdict> {
    facts.hazards.first().map(|hazard| Verdict::new(hazard.kind.name(), hazard.detail.as_str()))
}

/// Whether a verdict of this name is [`reaching`]'s.
pub(crate) fn is_reaching(verdict: &str) -> bool {
    HazardKind::ALL.iter().any(|kind| kind.name() == verdict)
}

fn errors(diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
    diagnostics.into_iter().filter(|diagnostic| diagnostic.severity == Severity::Error).collect()
}

fn verdict_of(death: &Death) -> Verdict {
    Verdict::new(death.name(), death.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(kind: &str, subject: Option<&str>, line: Option<u32>) -> Diagnostic {
        Diagnostic {
            severity: Severity::Error,
            kind: kind.to_owned(),
            message: "it is wrong".to_owned(),
            offset: None,
            line,
            subject: subject.map(str::to_owned),
        }
    }

    #[test]
    fn an_error_quotes_its_statement() {
        let text = "int f ( int y ) { int a = 1 ; return y + ; } int g ;";
        let said = |at: usize| {
            let error = Diagnostic { offset: Some(at as u32), ..error("err_any", None, None) };
            does_not_compile_within(&error, text).detail
        };
        assert_eq!(said(text.find("; }").expect("there")), "it is wrong, in `return y + ;`");
        assert_eq!(said(text.find("a =").expect("there")), "it is wrong, in `int a = 1 ;`");
        assert_eq!(said(0), "it is wrong, in `int f ( int y )`");
        assert_eq!(said(text.len()), "it is wrong");
    }

    #[test]
    fn an_error_quotes_its_line() {
        let long = "x".repeat(81);
        let text = format!("int a;\n  int b;\n \n{long}\n{}", &long[1..]);
        let said = |line| does_not_compile(&error("err_any", None, line), &text);
        assert_eq!(said(Some(2)).name, DOES_NOT_COMPILE);
        assert_eq!(said(Some(2)).detail, "it is wrong, in `int b;`");
        assert_eq!(said(Some(1)).detail, "it is wrong, in `int a;`");
        for line in [Some(3), Some(9), Some(0), None] {
            assert_eq!(said(line).detail, "it is wrong");
        }
        assert_eq!(said(Some(4)).detail, format!("it is wrong, in `{}...`", &long[1..]));
        assert_eq!(said(Some(5)).detail, format!("it is wrong, in `{}`", &long[1..]));
    }

    #[test]
    fn structures_without_a_tag_have_the_name_of_their_type() {
        let text = "typedef float T;\ntypedef struct { T x[2]; struct { int y; } in; } \
                    __attribute__((packed)) s_t;\nstruct { int z; } one;\n";
        let inner =
            text.lines().nth(1).and_then(|line| line.find("struct { int y")).expect("there");
        for (message, wanted) in [
            ("no member 'q' in 'struct (unnamed at program.cl:2:9)'", "no member 'q' in 's_t'"),
            ("from '__global struct (unnamed at program.cl:2:9) *'", "from '__global s_t *'"),
            ("in '(unnamed struct at program.cl:2:9)'", "in 's_t'"),
            (
                "from 's_t' (aka 'struct (unnamed at program.cl:2:9)') to 'int'",
                "from 's_t' to 'int'",
            ),
            ("in 'struct (unnamed at program.cl:3:1)'", "in a struct"),
            ("in 'union (anonymous at other.h:9:1)'", "in a union"),
            ("from 'struct (unnamed at program.cl:0:0) *'", "from 'struct *'"),
            ("in 'struct (unnamed at program.cl:1:9)'", "in a struct"),
            ("in 'struct (unnamed at x", "in 'struct (unnamed at x"),
            ("in '(anonymous namespace)::f'", "in '(anonymous namespace)::f'"),
            ("use of undeclared identifier 'x'", "use of undeclared identifier 'x'"),
        ] {
            assert_eq!(named(message, text), wanted);
        }
        let inner = format!("in 'struct (unnamed at program.cl:2:{})'", inner + 1);
        assert_eq!(named(&inner, text), "in a struct");
    }

    #[test]
    fn errors_of_assembly_are_a_verdict_of_their_own() {
        let name = |kind: &str, subject| does_not_compile(&error(kind, subject, None), "").name;
        let assembly = HazardKind::InlineAssembly.name();
        assert_eq!(name("err_asm_invalid", None), assembly);
        assert_eq!(name("err_inline_asm_any", None), assembly);
        assert_eq!(name("err_any", Some("__asm__")), assembly);
        assert_eq!(name("err_any", Some("x")), DOES_NOT_COMPILE);
        assert!(is_reaching(assembly) && !is_reaching(DOES_NOT_COMPILE));
    }

    #[test]
    fn warnings_are_no_errors() {
        let warning = Diagnostic { severity: Severity::Warning, ..error("warn", None, None) };
        let found = errors(vec![warning, error("err", None, None)]);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].kind, "err");
    }

    #[test]
    fn a_fault_of_the_machine_is_told_once() {
        let clang = Clang::start(1).unwrap_or_else(|error| panic!("{error}"));
        let compiler = Compiler::new(clang);
        assert!(compiler.works().is_ok());
        *compiler.fault.lock().expect("nobody panicked") = Some(Death::Machine("no room".into()));
        let error = compiler.works().expect_err("a fault").to_string();
        assert!(error.contains("no room"), "{error}");
        assert!(compiler.works().is_ok());
        assert_eq!(verdict_of(&Death::Timeout(5)).name, "timeout");
    }

    #[test]
    fn what_clang_makes_of_a_program_is_given() {
        let clang = Clang::start(1).unwrap_or_else(|error| panic!("{error}"));
        let compiler = Compiler::new(clang);
        let options = || crate::setting::alone("CL2.0");
        let text = "kernel void k(global int* a) { a[0] += 2; }";
        let (facts, code) = compiler.compile(text, options()).expect("it compiles");
        assert_eq!((facts.kernels[0].name.as_str(), code.functions[0].name.as_str()), ("k", "k"));
        let refused = compiler.compile("kernel void k( {", options()).expect_err("it does not");
        assert_eq!(refused.name, DOES_NOT_COMPILE);
        let (facts, _, hash) = compiler.compile_and_hash(text, options(), "k").expect("it does");
        assert_eq!(facts.kernels.len(), 1);
        let names = ["k".to_owned()];
        let hashes = compiler.canonical_irs(text, options(), &names, &[]).expect("it compiles");
        assert_eq!(hashes, BTreeMap::from([("k".to_owned(), hash)]));
        assert!(compiler.canonical_irs("int x", options(), &names, &[]).is_err());
        let (plain, errors) =
            compiler.preprocess("#define A 3\nint x = A;", options()).expect("text");
        assert!(plain.contains("int x = 3;") && errors.is_empty(), "{plain}");
        let (facts, errors) = compiler.parse(text, options()).expect("parsed");
        assert_eq!((facts.kernels.len(), errors.len()), (1, 0));
        let (_, errors) = compiler.parse("kernel void k() { x; }", options()).expect("parsed");
        assert_eq!(errors.len(), 1);
        assert_eq!(compiler.format("int  x ;").expect("text").trim(), "int x;");
    }
}

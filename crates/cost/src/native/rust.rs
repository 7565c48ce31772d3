//! Calls of a function of a program in Rust, as the driver makes them.

use super::{GROUP, SIZE, entry};
use dataset::Verdict;
use features::MOST_ARGUMENTS;
use rows::TaskVerdict;
use serde::{Deserialize, Serialize};
use syn::{GenericParam, Item, ItemFn, Visibility};

/// What knows the types of arguments.
pub(crate) const SHIM: &str = include_str!("shim.rs");

/// A function that is called.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Function {
    name: String,
    /// What stands before `fn` in its type.
    abi: String,
    arguments: usize,
}

/// The last function of a program that other files can call: `pub`, of no type, module or condition, and generic in
/// lifetimes alone.
pub(crate) fn function(source: &str) -> Result<Function, Verdict> {
    let refused = |error: syn::Error| Verdict::new(TaskVerdict::DoesNotCompile, error.to_string());
    let file = syn::parse_file(source).map_err(refused)?;
    let mut functions = file.items.iter().rev().filter_map(|item| match item {
        Item::Fn(function) if can_be_called(function) => Some(function),
        _ => None,
    });
    let unsupported = |why: String| Verdict::new(TaskVerdict::Unsupported, why);
    let Some(function) = functions.next() else {
        return Err(unsupported("it has no function that other files can call".to_owned()));
    };
    let (signature, arguments) = (&function.sig, function.sig.inputs.len());
    if arguments > MOST_ARGUMENTS {
        return Err(unsupported(format!("{arguments} arguments")));
    }
    let abi = signature.abi.as_ref().map_or_else(String::new, |abi| {
        let name = abi.name.as_ref().map_or_else(|| "C".to_owned(), syn::LitStr::value);
        format!("extern {name:?} ")
    });
    Ok(Function { name: signature.ident.to_string(), abi, arguments })
}

fn can_be_called(function: &ItemFn) -> bool {
    let signature = &function.sig;
    let plain = |parameter: &GenericParam| matches!(parameter, GenericParam::Lifetime(_));
    matches!(function.vis, Visibility::Public(_))
        && signature.asyncness.is_none()
        && signature.variadic.is_none()
        && signature.generics.params.iter().all(plain)
        && !function.attrs.iter().any(|attribute| attribute.path().is_ident("cfg"))
}

impl Function {
    /// What is compiled behind its program: calls through a pointer that no compiler looks through.
    pub(crate) fn calls(&self) -> String {
        let Function { name, abi, arguments } = self;
        let each = |one: &dyn Fn(usize) -> String| -> String { (0..*arguments).map(one).collect() };
        let types = each(&|at| format!("T{at}, "));
        let bounds = each(&|at| format!("T{at}: Argument, "));
        let kinds = each(&|at| format!("T{at}::KIND, "));
        let values = each(&|at| format!("Argument::of(*arguments.add({at})), "));
        let any = "_, ".repeat(*arguments);
        let (entry, length) = (entry(1), arguments + 1);
        format!(
            "\nmod stampmill_calls {{\nconst SIZE: u8 = {SIZE};\n{SHIM}\n\
             const fn kinds<{bounds}R>(_: unsafe {abi}fn({types}) -> R) -> [u8; {length}] {{ [{kinds}0] }}\n\
             #[no_mangle]\npub static stampmill_kinds: [u8; {length}] = kinds(super::{name});\n\
             #[no_mangle]\npub unsafe extern \"C\" fn {entry}(arguments: *const usize) {{\n\
             let function: unsafe {abi}fn({any}) -> _ = super::{name};\n\
             let mut call = 0;\n\
             while call < {GROUP} {{\n\
             let called = ::core::ptr::read_volatile(&function);\n\
             called({values});\ncall += 1;\n}}\n}}\n}}\n"
        )
    }
}

/// Why a program with its calls does not compile; `lines` are its own, behind which the calls begin.
pub(crate) fn refusal(verdict: Verdict, lines: usize) -> Verdict {
    let line = verdict.detail.split(':').nth(1).and_then(|line| line.parse::<usize>().ok());
    match (line, verdict.detail.split_once("]: ")) {
        // It compiles by itself.
        (Some(line), Some((_, why))) if line > lines => {
            let why = why.strip_suffix(": unsupported").unwrap_or(why);
            Verdict::new(TaskVerdict::Unsupported, why)
        }
        _ => verdict,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_function_is_called_that_others_can_call() {
        let named =
            |source: &str| function(source).map(|found| (found.name, found.abi, found.arguments));
        let found = |name: &str, abi: &str, count| Ok((name.to_owned(), abi.to_owned(), count));
        assert_eq!(
            named(
                "pub fn a() {} pub fn b<'a>(x: &'a [f32], y: u8) {} fn c() {} mod m { pub fn d() {} }"
            ),
            found("b", "", 2)
        );
        assert_eq!(
            named("pub unsafe extern fn a(x: u8) {} pub fn b<T>(x: T) {} pub async fn c() {}"),
            found("a", "extern \"C\" ", 1)
        );
        assert_eq!(
            named("pub fn r#type() {} #[cfg(test)] pub fn b() {} pub(crate) fn c() {}"),
            found("r#type", "", 0)
        );
        let verdict = |source: &str| function(source).expect_err(source).name;
        assert_eq!(verdict("fn main() {}"), "unsupported");
        assert_eq!(verdict("pub fn a( {}"), "does-not-compile");
        let many = format!("pub fn a({}) {{}}", "_: u8, ".repeat(MOST_ARGUMENTS + 1));
        assert_eq!(verdict(&many), "unsupported");
    }

    #[test]
    fn an_error_in_what_stands_behind_a_program_is_not_the_programs() {
        let verdict = |line| {
            let detail =
                format!("source.rs:{line}:5: error[E0277]: an argument of type `S`: unsupported");
            refusal(Verdict::new(TaskVerdict::DoesNotCompile, detail), 4)
        };
        assert_eq!(verdict(4).name, "does-not-compile");
        assert_eq!(verdict(5), Verdict::new(TaskVerdict::Unsupported, "an argument of type `S`"));
    }
}

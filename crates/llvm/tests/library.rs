//! What holds for every LLVM of the machine.

use stampmill_llvm::{
    Context, Error, Identification, Library, Opcode, TypeKind, Version, candidates,
};
use std::thread;

const TEXT: &str = "
    @table = internal constant [3 x i32] [i32 1, i32 2, i32 3]
    declare i32 @outside(i32)
    define i32 @choose(i32 %a, i64 %b) {
    entry:
      switch i32 %a, label %other [ i32 7, label %seven
                                    i32 9, label %seven ]
    seven:
      %x = phi i32 [ 1, %entry ], [ 1, %entry ]
      br label %other
    other:
      %y = phi i32 [ 0, %entry ], [ %x, %seven ]
      %r = call i32 @outside(i32 %y)
      ret i32 %r
    }";

fn libraries() -> Vec<&'static Library> {
    let all: Vec<_> = candidates().iter().filter_map(|c| Library::load(&c.path).ok()).collect();
    assert!(!all.is_empty(), "scripts/setup.sh installs LLVM");
    all
}

fn every_candidate_loads_and_knows_its_version() {
    for candidate in candidates() {
        let library = Library::load(&candidate.path).expect("it has all functions");
        let mut parts = candidate.path.components();
        let name = parts.next_back().expect("a file has a name");
        let folder = parts.next_back().expect("libraries do not lie at the root");
        let roundabout = parts.as_path().join(folder).join("..").join(folder).join(name);
        let again = Library::load(&roundabout).expect("it is the same file");
        assert!(std::ptr::eq(library, again));
        assert_eq!(library.version().major, candidate.version.major);
    }
}

fn a_module_is_walked_alike_by_every_library() {
    for library in libraries() {
        let context = Context::new(library);
        let module = context.parse("choose.ll", TEXT.as_bytes()).expect("it is valid IR");
        module.verify().expect("it obeys the rules");
        let names: Vec<_> = module.functions().map(|f| (f.name(), f.is_declaration())).collect();
        assert_eq!(names, [("outside".into(), true), ("choose".into(), false)]);
        let function = module.function("choose").expect("it is defined");
        assert_eq!(function.block_count(), 3);
        assert_eq!(function.arguments().count(), 2);
        let entry = function.blocks().next().expect("there are three");
        assert_eq!(entry.successors().count(), 3);
        let switch = entry.terminator().expect("it ends in a switch");
        assert_eq!(switch.opcode(), Opcode::Switch);
        let cases = switch.operands().chain(switch.detached_cases());
        let cases: Vec<_> = cases.filter_map(|value| value.integer()).collect();
        assert_eq!(cases, [(32, 7), (32, 9)]);
        let instructions = function.blocks().flat_map(|block| block.instructions());
        let opcodes: Vec<_> = instructions.map(|instruction| instruction.opcode().name()).collect();
        assert_eq!(opcodes, ["Switch", "PHI", "Br", "PHI", "Call", "Ret"]);
        let table = module.globals().next().expect("there is one");
        assert!(table.is_constant() && table.initializer().is_some());
        assert_eq!(
            (table.content_type().kind(), table.content_type().length()),
            (TypeKind::Array, 3)
        );
    }
}

fn bitcode_of_an_older_library_is_read_by_every_newer_one() {
    let libraries = libraries();
    for writer in &libraries {
        let context = Context::new(writer);
        let bitcode = context.parse("choose", TEXT.as_bytes()).expect("valid").write();
        let identification = Identification::read(&bitcode).expect("LLVM signs what it writes");
        assert_eq!(identification.version.map(|v| v.major), Some(writer.version().major));
        for reader in libraries.iter().filter(|reader| reader.version() >= writer.version()) {
            let context = Context::new(reader);
            let module = context.parse("choose", &bitcode).expect("older bitcode is readable");
            assert_eq!(module.functions().count(), 2);
        }
        let nearest = Library::nearest(writer.version()).expect("there is one");
        assert_eq!(nearest.version().major, writer.version().major);
    }
    // What our clang writes is never left to a library that cannot read it.
    let ours = Library::as_new_as(Version::OF_CLANG).expect("scripts/setup.sh installs it");
    assert!(ours.version().major >= Version::OF_CLANG.major);
    let later = Version { major: 99, minor: 0, patch: 0 };
    assert!(matches!(Library::as_new_as(later), Err(Error::TooOld { writer: 99, .. })));
}

fn a_module_too_new_for_its_library_is_an_error_with_both_versions() {
    let libraries = libraries();
    let (newest, oldest) = (libraries[0], libraries[libraries.len() - 1]);
    let context = Context::new(newest);
    let bitcode = context.parse("choose", TEXT.as_bytes()).expect("valid").write();
    let old = Context::new(oldest);
    match old.parse("choose.bc", &bitcode) {
        Err(Error::TooNew { producer, library, .. }) => {
            assert!(producer.contains(&newest.version().major.to_string()));
            assert_eq!(library, oldest.version());
        }
        // A later LLVM that changed nothing this module uses is no obstacle.
        Ok(module) => assert_eq!(module.functions().count(), 2),
        Err(other) => panic!("{other}"),
    };
}

fn empty_truncated_and_garbage_modules_are_parse_errors() {
    for library in libraries() {
        let context = Context::new(library);
        let whole = context.parse("choose", TEXT.as_bytes()).expect("valid").write();
        let half = &whole[..whole.len() / 2];
        let mut noise = b"BC\xc0\xde".to_vec();
        noise.extend((0..400_u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8));
        let cases: [(&str, &[u8]); 5] = [
            ("empty", b""),
            ("text", b"define nonsense"),
            ("magic alone", b"BC\xc0\xde"),
            ("truncated", half),
            ("noise", &noise),
        ];
        for (name, content) in cases {
            match context.parse(name, content) {
                Err(Error::Parse { message, .. }) => assert!(!message.is_empty(), "{name}"),
                other => panic!("{name}: {other:?}"),
            }
        }
    }
}

fn an_unknown_pass_is_an_error_that_names_it() {
    for library in libraries() {
        let context = Context::new(library);
        let mut module = context.parse("choose", TEXT.as_bytes()).expect("valid");
        let error = module.run_passes("no-such-pass").expect_err("there is none");
        assert!(error.to_string().contains("no-such-pass"), "{error}");
        module.run_passes("default<O2>").expect("it is a pipeline");
        module.verify().expect("passes keep the rules");
    }
}

fn a_file_that_is_no_llvm_is_an_error_that_says_what_is_missing() {
    let own = std::env::current_exe().expect("tests run from a file");
    assert!(matches!(Library::load(&own), Err(Error::Load { .. } | Error::MissingSymbol { .. })));
}

fn many_threads_read_modules_at_once() {
    let library = libraries()[0];
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..50 {
                    let context = Context::new(library);
                    let module = context.parse("choose", TEXT.as_bytes()).expect("valid");
                    assert_eq!(module.clone().print(), module.print());
                }
            });
        }
    });
}

/// A second version of LLVM beside the newest.
fn one_version() -> Option<String> {
    let majors = libraries().into_iter().map(|library| library.version().major);
    let majors: std::collections::BTreeSet<u32> = majors.collect();
    (majors.len() < 2).then(|| "LLVM of a second version".to_owned())
}

trials::main! {
    every_candidate_loads_and_knows_its_version,
    a_module_is_walked_alike_by_every_library,
    bitcode_of_an_older_library_is_read_by_every_newer_one,
    a_module_too_new_for_its_library_is_an_error_with_both_versions: one_version(),
    empty_truncated_and_garbage_modules_are_parse_errors,
    an_unknown_pass_is_an_error_that_names_it,
    a_file_that_is_no_llvm_is_an_error_that_says_what_is_missing,
    many_threads_read_modules_at_once,
}

//! Bitcode from elsewhere is read in a worker of the binary itself: sound modules have their
//! vectors, and whatever damaged ones do to LLVM costs a verdict.

use std::{
    fs,
    path::Path,
    process::{Command, Output},
};

const TEXT: &str = "define i32 @f(ptr %a, i32 %n) {
    %p = getelementptr i32, ptr %a, i32 %n
    %v = load i32, ptr %p
    %s = add i32 %v, 1
    store i32 %s, ptr %p
    %c = icmp eq i32 %s, 0
    br i1 %c, label %yes, label %no
    yes:
    ret i32 1
    no:
    ret i32 %s
}";

/// The bitcode of `TEXT`.
fn bitcode() -> Vec<u8> {
    let library = llvm::Library::newest().expect("scripts/setup.sh installs LLVM");
    let context = llvm::Context::new(library);
    context.parse("f", TEXT.as_bytes()).expect("it is valid").write()
}

fn features(input: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_stampmill"))
        .args(["features", "--space", "instcount,autophase", "--format", "jsonl"])
        .arg(input)
        .output()
        .expect("the binary runs")
}

#[test]
fn bitcode_and_text_of_a_module_have_the_same_vectors() {
    let bitcode = bitcode();
    let folder = tempfile::tempdir().expect("a folder");
    let vectors = |name: &str, content: &[u8]| {
        let path = folder.path().join(name);
        fs::write(&path, content).expect("written");
        let output = features(&path);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let line = String::from_utf8(output.stdout).expect("text").replace(name, "");
        assert!(line.contains("\"TotalInsts\":8,\"TotalBlocks\":3,\"TotalFuncs\":1,"), "{line}");
        line
    };
    assert_eq!(vectors("f.bc", &bitcode), vectors("f.ll", TEXT.as_bytes()));
}

#[test]
fn every_damaged_module_has_a_row() {
    let bitcode = bitcode();
    let folder = tempfile::tempdir().expect("a folder");
    let damaged = 120;
    let mut state = 0x9e37_79b9_u32;
    for at in 0..damaged {
        let mut content = bitcode.clone();
        // Three bytes of each are other ones; a linear congruential generator is random enough.
        for _ in 0..3 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let place = state as usize % content.len();
            content[place] ^= (state >> 24) as u8 | 1;
        }
        fs::write(folder.path().join(format!("{at:03}.bc")), content).expect("written");
    }
    let output = features(folder.path());
    let text = String::from_utf8(output.stdout).expect("text");
    assert!(matches!(output.status.code(), Some(0 | 1)), "{:?}", output.status);
    assert_eq!(text.lines().count(), damaged);
    assert!(text.contains("\"verdict\":\"not-a-module\""), "{text}");
}

#[test]
fn modules_are_shown_as_text() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::create_dir(folder.path().join("src")).expect("a folder");
    for (name, text) in [("f.ll", TEXT.to_owned()), ("g.ll", TEXT.replace("@f", "@g"))] {
        fs::write(folder.path().join("src").join(name), text).expect("written");
    }
    let stampmill = |line: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_stampmill"));
        let output = command.args(line.split(' ')).current_dir(folder.path()).output();
        let output = output.expect("the binary runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("text")
    };
    stampmill("ir extract src --out modules");
    let first = stampmill("show modules");
    assert!(first.contains("\n; f.ll: 1 functions, 8 instructions\n"), "{first}");
    assert!(first.contains("define i32 @f(ptr %a, i32 %n) {"), "{first}");
    assert!(
        first.ends_with("--programs N prints more of them; `stampmill ir export` writes all\n")
    );
    let other = stampmill("show modules --match g.ll");
    assert!(other.contains("define i32 @g(") && !other.contains("@f("), "{other}");
    let none = Command::new(env!("CARGO_BIN_EXE_stampmill"))
        .args(["show", "modules", "--match", "h.ll"])
        .current_dir(folder.path())
        .output()
        .expect("the binary runs");
    let said = String::from_utf8_lossy(&none.stderr);
    assert!(said.contains("no module's path contains `h.ll`"), "{said}");
}

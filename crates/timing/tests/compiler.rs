//! What a compiler reads and writes on behalf of a foreign program.

use stampmill_timing::{
    Error,
    compiler::{Call, Refusal},
};
use std::{ffi::OsString, fs, path::Path};

const SECRET: &str = "WORDS_OF_ANOTHER";
const PLAIN: &str = "int main(void) { return 0; }\n";

/// A folder to compile in and another beside it, with a secret.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Place {
        let place = Place(tempfile::tempdir().expect("a folder"));
        fs::create_dir(place.0.path().join("own")).expect("it is ours");
        fs::create_dir(place.0.path().join("outside")).expect("it is ours");
        fs::write(place.outside(), format!("-D{SECRET}\n#error {SECRET}\n")).expect("it is ours");
        place
    }

    fn outside(&self) -> String {
        self.0.path().join("outside/secret.h").display().to_string()
    }

    fn put(&self, name: &str, text: &str) {
        fs::write(self.0.path().join("own").join(name), text).expect("it is ours");
    }

    /// Compile `source` with further arguments.
    fn compile(&self, source: &str, arguments: &[&str]) -> Result<(), Refusal> {
        self.try_compile(source, arguments).expect("this machine compiles").map(drop)
    }

    fn try_compile(
        &self,
        source: &str,
        arguments: &[&str],
    ) -> Result<Result<Vec<u8>, Refusal>, Error> {
        let folder = self.0.path().join("own");
        let call = Call {
            compiler: Path::new("/usr/bin/gcc"),
            flags: Vec::new(),
            source: ("source.c", source.as_bytes()),
            before: Vec::new(),
            behind: arguments.iter().map(OsString::from).collect(),
            output: "program",
            folder: &folder,
            readable: Vec::new(),
            libraries: None,
        };
        call.make()
    }

    /// What is said of a program that does not compile.
    fn refusal(&self, source: &str, arguments: &[&str]) -> String {
        self.compile(source, arguments).expect_err("it does not compile").verdict.detail
    }
}

#[test]
fn response_files_from_elsewhere_are_not_read() {
    let place = Place::new();
    let outside = place.outside();
    for argument in [format!("@{outside}"), "@/etc/shadow".to_owned()] {
        let told = place.refusal(PLAIN, &[&argument]);
        assert!(!told.contains(SECRET) && !told.contains("root:"), "{told}");
    }
    // Its own is, but what that names is no nearer.
    place.put("plain.rsp", "-DVALUE=0");
    assert_eq!(place.compile("int main(void) { return VALUE; }\n", &["@plain.rsp"]), Ok(()));
    for line in [
        format!("@{outside}"),
        format!("-include {outside}"),
        format!("-imacros {outside}"),
        "-include /etc/shadow".to_owned(),
        format!("-specs={outside}"),
        format!("-Wl,@{outside}"),
        format!("-Wl,-T,{outside}"),
        format!("-Wa,@{outside}"),
    ] {
        place.put("asks.rsp", &line);
        let told = place.refusal(PLAIN, &["@asks.rsp"]);
        assert!(!told.contains(SECRET) && !told.contains("root:"), "{line}: {told}");
    }
}

#[test]
fn nothing_is_written_outside_of_the_folder() {
    let place = Place::new();
    let new = place.0.path().join("outside/new").display().to_string();
    let (program, map) = (format!("-o {new}"), format!("-Wl,-Map={new}"));
    let (list, shell) = (format!("-Wa,-a={new}"), format!("-wrapper /bin/sh,-c,'echo x >{new}'"));
    for line in [program, map, list, shell, format!("-MD -MF {new}"), format!("-dumpdir {new}")] {
        place.put("asks.rsp", &line);
        // Whether it compiles is its own affair.
        let _ = place.try_compile(PLAIN, &["@asks.rsp"]);
        let names = fs::read_dir(place.0.path().join("outside")).expect("it is there");
        assert_eq!(names.count(), 1, "{line}");
    }
}

#[test]
fn files_from_elsewhere_are_not_embedded() {
    let place = Place::new();
    for path in [place.outside(), "/etc/shadow".to_owned()] {
        for source in [
            format!("#include \"{path}\"\n{PLAIN}"),
            format!("const char text[] = {{\n#embed \"{path}\"\n}};\n{PLAIN}"),
            format!("asm(\".incbin \\\"{path}\\\"\");\n{PLAIN}"),
            format!("asm(\".include \\\"{path}\\\"\");\n{PLAIN}"),
        ] {
            let told = place.refusal(&source, &[]);
            assert!(!told.contains(SECRET) && !told.contains("root:"), "{source}: {told}");
        }
        let asks = format!("#if __has_include(\"{path}\")\n#error seen\n#endif\n{PLAIN}");
        assert_eq!(place.compile(&asks, &[]), Ok(()));
    }
}

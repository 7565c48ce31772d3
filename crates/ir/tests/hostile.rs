//! Packages whose builds attack the one who builds them: through `stampmill ir build dir:`, as users do.
//!
//! Every attack is bounded (counts, sizes, seconds). What is looked at is what is around the build: files
//! outside, listeners, processes, and the data set, which must hold a row about the package.

#![expect(clippy::unwrap_used, reason = "what fails in set-up fails the test")]

use serde_json::Value;
use std::{
    fs,
    net::TcpListener,
    os::unix::{fs::MetadataExt, net::UnixListener},
    path::{Path, PathBuf},
    process::{Command, Output},
    time::{Duration, Instant},
};

const SECRET: &str = "a-secret-of-the-user";

/// A folder with a file of the user's, and beside it packages and results.
struct Home {
    folder: tempfile::TempDir,
}

impl Home {
    fn new() -> Home {
        let home = Home { folder: tempfile::tempdir().unwrap() };
        for folder in ["outside", "scratch"] {
            fs::create_dir(home.at(folder)).unwrap();
        }
        fs::write(home.at("outside/LICENSE"), SECRET).unwrap();
        home
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A package that compiles one file and does `line` before and `after` behind it.
    fn package(&self, name: &str, before: &str, after: &str) {
        let text = format!(
            "OUTSIDE = {}\nall:\n\t{before}\n\tclang-19 -c a.c -o a.o\n\t{after}\n",
            self.at("outside").display()
        );
        fs::create_dir_all(self.at(name)).unwrap();
        fs::write(self.at(name).join("Makefile"), text).unwrap();
        fs::write(self.at(name).join("a.c"), "int a(int x) { return x * 3; }\n").unwrap();
    }

    fn stampmill(&self, words: &[&str]) -> Output {
        // Built with the workspace, beside this test.
        let program = host::installed("stampmill").expect("stampmill is built");
        Command::new(program)
            .args(words)
            .current_dir(self.folder.path())
            .env("STAMPMILL_CACHE", self.at("cache"))
            .env("TMPDIR", self.at("scratch"))
            .env("A_KEY_OF_THE_USER", SECRET)
            .output()
            .unwrap()
    }

    /// Build the packages, with these flags more; nothing around them may have changed.
    fn build(&self, packages: &[&str], flags: &[&str]) -> Vec<Value> {
        let before = self.seen();
        let sources: Vec<String> = packages.iter().map(|name| format!("dir:{name}")).collect();
        let mut words = vec!["ir", "build", "--out", "modules", "--json", "--offline"];
        words.extend(flags);
        words.extend(sources.iter().map(String::as_str));
        let begun = Instant::now();
        let output = self.stampmill(&words);
        assert!(begun.elapsed() < Duration::from_secs(100), "it hung");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(matches!(output.status.code(), Some(0 | 1)), "{}: {said}", output.status);
        assert_eq!(self.seen(), before);
        assert_eq!(fs::read_dir(self.at("scratch")).unwrap().count(), 0);
        self.rows()
    }

    fn rows(&self) -> Vec<Value> {
        let sql = "SELECT kind, package, path, verdict, detail, log, CAST(content AS VARCHAR) AS text FROM m";
        let sql_without = "SELECT kind, package, path, verdict, detail, log FROM m";
        let mut output = self.stampmill(&["query", sql, "m=modules", "--format", "jsonl"]);
        if !output.status.success() {
            // Bitcode is no text.
            output = self.stampmill(&["query", sql_without, "m=modules", "--format", "jsonl"]);
        }
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let rows: Vec<Value> =
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let parts = fs::read_dir(self.at("modules")).unwrap().flatten();
        for part in parts.filter_map(|part| fs::read(part.path()).ok()) {
            let holds = part.windows(SECRET.len()).any(|bytes| bytes == SECRET.as_bytes());
            assert!(!holds, "the secret is in the data set");
        }
        assert!(rows.iter().all(|row| !row.to_string().contains(SECRET)), "{rows:?}");
        rows
    }

    /// Content, mode, owner, times of what is outside.
    fn seen(&self) -> Vec<String> {
        let mut all: Vec<String> = fs::read_dir(self.at("outside"))
            .unwrap()
            .flatten()
            .map(|entry| entry.path())
            .chain([self.at("outside")])
            .map(|path| {
                let about = path.symlink_metadata().unwrap();
                let content = if about.is_file() { fs::read(&path).unwrap() } else { Vec::new() };
                let (mode, owner) = (about.mode(), (about.uid(), about.gid()));
                let changed = (about.ctime(), about.ctime_nsec());
                format!("{} {content:?} {mode:o} {owner:?} {changed:?}", path.display())
            })
            .collect();
        all.sort();
        all
    }
}

fn verdict<'a>(rows: &'a [Value], package: &str) -> &'a str {
    let about = rows.iter().find(|row| row["kind"] == "package" && row["package"] == package);
    about.and_then(|row| row["verdict"].as_str()).unwrap_or("no row")
}

#[test]
fn a_build_that_writes_outside_changes_nothing() {
    let home = Home::new();
    home.package(
        "writes",
        "-echo gone > $(OUTSIDE)/LICENSE; echo new > $(OUTSIDE)/new; chmod 777 $(OUTSIDE)/LICENSE; \
         ln $(OUTSIDE)/LICENSE linked; ln -s $(OUTSIDE) out; echo new > out/new; touch $(OUTSIDE)/LICENSE; \
         rm -rf $(OUTSIDE) ../../../outside; mv $(OUTSIDE) moved; echo x > ../../../new",
        "",
    );
    let rows = home.build(&["writes"], &[]);
    assert_eq!(verdict(&rows, "writes"), "built", "{rows:?}");
    assert!(!home.at("new").exists());
}

#[test]
fn a_build_reads_nothing_of_the_user() {
    let home = Home::new();
    home.package(
        "reads",
        "-cat $(OUTSIDE)/LICENSE /etc/shadow /proc/*/environ $(OUTSIDE)/../cache/* ~/.cargo/credentials*; \
         ls $(OUTSIDE) /root /home; env",
        "cp $(OUTSIDE)/LICENSE LICENSE; false",
    );
    // What is compiled in reads no more than what compiles.
    let asm = format!("__asm__(\".incbin \\\"{}\\\"\");\n", home.at("outside/LICENSE").display());
    home.package("includes", "", "");
    fs::write(home.at("includes/a.c"), asm).unwrap();
    let rows = home.build(&["reads", "includes"], &[]);
    assert_eq!(verdict(&rows, "reads"), "does-not-build", "{rows:?}");
    assert_eq!(verdict(&rows, "includes"), "does-not-build", "{rows:?}");
    let log = rows.iter().map(|row| row["log"].as_str().unwrap_or_default()).collect::<String>();
    assert!(!log.contains("root:") && !log.contains("A_KEY_OF_THE_USER"), "{log}");
}

/// What build systems in Python do: they ask who they are, and copy files with their attributes.
#[test]
fn a_build_has_a_name_and_files_without_attributes() {
    let home = Home::new();
    let line = "test \"$$(id -un)\" = build && python3 -c 'import shutil; shutil.copy2(\"a.c\", \"copied\")'";
    home.package("copies", line, "test -e copied");
    let rows = home.build(&["copies"], &[]);
    assert_eq!(verdict(&rows, "copies"), "built", "{rows:?}");
}

#[test]
fn a_build_reaches_no_listener_and_is_reached_by_nobody() {
    let home = Home::new();
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let unix = UnixListener::bind(home.at("outside/socket")).unwrap();
    tcp.set_nonblocking(true).unwrap();
    unix.set_nonblocking(true).unwrap();
    let port = tcp.local_addr().unwrap().port();
    let line = format!(
        "-bash -c 'echo x > /dev/tcp/127.0.0.1/{port}'; bash -c 'echo x > /dev/udp/127.0.0.1/{port}'; \
         python3 -c 'import socket; s = socket.socket(socket.AF_UNIX); s.connect(\"$(OUTSIDE)/socket\")'; \
         python3 -c 'import socket; s = socket.socket(); s.bind((\"0.0.0.0\", 0)); s.listen()' && touch listens"
    );
    home.package("connects", &line, "test ! -e listens");
    let rows = home.build(&["connects"], &[]);
    assert_eq!(verdict(&rows, "connects"), "built", "{rows:?}");
    assert!(tcp.accept().is_err() && unix.accept().is_err(), "it was heard");
}

#[test]
fn nothing_of_a_build_outlives_it() {
    let home = Home::new();
    // Nobody else sleeps for so long.
    let seconds = format!("2{:05}", std::process::id() % 100_000);
    let line = format!(
        "-setsid sh -c 'trap \"\" HUP INT TERM; sleep {seconds} & sleep {seconds}' >/dev/null 2>&1 </dev/null &"
    );
    home.package("stays", &line, "");
    home.package("endless", &line, "trap '' TERM INT; while :; do sleep 1; done");
    let rows = home.build(&["stays", "endless"], &["--limit", "4s"]);
    assert_eq!(verdict(&rows, "stays"), "built", "{rows:?}");
    assert_eq!(verdict(&rows, "endless"), "timeout", "{rows:?}");
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let mut lines = entries.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
    assert!(!lines.any(|line| String::from_utf8_lossy(&line).contains(&seconds)), "it lives on");
}

#[test]
fn a_build_that_kills_all_it_can_kills_itself() {
    let home = Home::new();
    home.package("kills", "-kill -9 -1; kill -9 $$PPID 1; kill -STOP -1", "");
    home.package("neighbor", "", "");
    let rows = home.build(&["kills", "neighbor"], &["--limit", "20s"]);
    assert_ne!(verdict(&rows, "kills"), "no row");
    assert_eq!(verdict(&rows, "neighbor"), "built", "{rows:?}");
}

#[test]
fn a_build_that_fills_the_disk_is_stopped() {
    let home = Home::new();
    home.package(
        "fills",
        "-for i in 1 2 3 4 5 6 7 8 9 10; do head -c 20000000 /dev/zero > fill$$i; done; sleep 8",
        "",
    );
    let rows = home.build(&["fills"], &["--disk", "64"]);
    assert_eq!(verdict(&rows, "fills"), "disk-limit", "{rows:?}");
    assert!(!home.at("modules.work").exists());
}

#[test]
fn a_forged_store_is_data_and_leads_nowhere() {
    let home = Home::new();
    let record = "{\\\"package\\\":\\\"neighbor\\\",\\\"version\\\":\\\"1\\\",\\\"source\\\":\\\"$(OUTSIDE)/LICENSE\\\",\
        \\\"target\\\":\\\"../../x\\\",\\\"language\\\":\\\"c\\\",\\\"directory\\\":\\\"/\\\",\\\"command\\\":[],\
        \\\"source_hash\\\":\\\"\\\",\\\"bitcode\\\":\\\"$(1)\\\",\\\"trouble\\\":\\\"\\\"}";
    home.package("forges", "", "$(MAKE) -f forge.mk");
    let forge = format!(
        "OUTSIDE = {}\nrecord = {record}\nS = $(STAMPMILL_IR_STORE)\nall:\n\
         \techo garbage > $(S)/garbage.json\n\
         \tmkfifo $(S)/pipe.json $(S)/pipe.bc\n\
         \tln -s /dev/zero $(S)/endless.json\n\
         \tln -s $(OUTSIDE)/LICENSE $(S)/secret.json\n\
         \tln -s $(OUTSIDE)/LICENSE $(S)/abc.bc\n\
         \ttruncate -s 3G $(S)/def.bc\n\
         \techo \"$(call record,abc)\" > $(S)/one.json\n\
         \techo \"$(call record,def)\" > $(S)/two.json\n\
         \techo \"$(call record,../../../../outside/LICENSE)\" > $(S)/three.json\n\
         \techo \"$(call record,pipe)\" > $(S)/four.json\n\
         \ttruncate -s 3G $(S)/huge.json\n",
        home.at("outside").display()
    );
    fs::write(home.at("forges/forge.mk"), forge).unwrap();
    home.package("neighbor", "", "");
    let rows = home.build(&["forges", "neighbor"], &[]);
    assert_eq!(verdict(&rows, "forges"), "built", "{rows:?}");
    let of = |package: &str, verdict: &str| {
        let all = rows.iter().filter(|row| row["package"] == package && row["verdict"] == verdict);
        all.count()
    };
    // Its own module, those it forged with their verdicts, and nothing in the neighbor's name.
    assert_eq!((of("forges", "accepted"), of("neighbor", "accepted")), (1, 1), "{rows:?}");
    assert_eq!(of("forges", "no-record"), 5, "{rows:?}");
    let forged = rows.iter().filter(|row| row["package"] == "forges" && row["kind"] == "module");
    assert!(forged.filter(|row| row["verdict"] != "accepted").count() >= 7, "{rows:?}");
}

#[test]
fn links_in_place_of_its_folders_are_not_followed() {
    for (what, line) in [
        ("tree", "cd .. && mv tree gone && ln -s $(OUTSIDE) tree"),
        ("store", "rm -rf $(STAMPMILL_IR_STORE) && ln -s $(OUTSIDE) $(STAMPMILL_IR_STORE)"),
        // Once written through by a look for room.
        ("room", "ln -s $(OUTSIDE)/LICENSE ../room; false"),
        ("license", "ln -s $(OUTSIDE)/LICENSE LICENSE"),
        ("source", "ln -sf $(OUTSIDE)/LICENSE a.c"),
    ] {
        let home = Home::new();
        home.package(what, "", line);
        let rows = home.build(&[what], &[]);
        let expected = match what {
            "tree" | "store" => "moves-its-tree",
            "room" => "does-not-build",
            _ => "built",
        };
        assert_eq!(verdict(&rows, what), expected, "{what}: {rows:?}");
    }
}

#[test]
fn a_build_script_of_cargo_is_held_too() {
    let home = Home::new();
    let script = format!(
        "use std::{{fs, net::TcpStream, process::Command}};\nfn main() {{\n\
         let outside = std::path::Path::new({:?});\n\
         assert!(fs::write(outside.join(\"new\"), \"x\").is_err());\n\
         assert!(fs::read(outside.join(\"LICENSE\")).is_err());\n\
         assert!(fs::read(\"/etc/shadow\").is_err());\n\
         assert!(TcpStream::connect(\"127.0.0.1:22\").is_err_and(|e| e.kind() != std::io::ErrorKind::ConnectionRefused));\n\
         assert!(std::env::var_os(\"A_KEY_OF_THE_USER\").is_none());\n\
         let _ = Command::new(\"kill\").args([\"-9\", \"1\"]).status();\n}}\n",
        home.at("outside")
    );
    let manifest = "[package]\nname = \"held\"\nversion = \"0.1.0\"\nedition = \"2021\"\nbuild = \"build.rs\"\n[workspace]\n";
    fs::create_dir_all(home.at("held/src")).unwrap();
    fs::write(home.at("held/Cargo.toml"), manifest).unwrap();
    fs::write(home.at("held/build.rs"), script).unwrap();
    fs::write(home.at("held/src/lib.rs"), "pub fn f(x: u32) -> u32 { x + 1 }\n").unwrap();
    let rows = home.build(&["held"], &[]);
    assert_eq!(verdict(&rows, "held"), "built", "{rows:?}");
}

#[test]
fn a_folder_of_the_users_is_not_taken_for_ours() {
    let home = Home::new();
    home.package("plain", "", "");
    let thesis = home.at("modules.work/thesis.txt");
    fs::create_dir(home.at("modules.work")).unwrap();
    fs::write(&thesis, "years of work").unwrap();
    let output = home.stampmill(&["ir", "build", "dir:plain", "--out", "modules"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("modules.work is no work folder"), "{said}");
    assert_eq!(fs::read_to_string(&thesis).unwrap(), "years of work");
    // Nor through a link.
    fs::remove_dir_all(home.at("modules.work")).unwrap();
    std::os::unix::fs::symlink(home.at("outside"), home.at("modules.work")).unwrap();
    let output = home.stampmill(&["ir", "build", "dir:plain", "--out", "modules"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(exists(&home.at("outside/LICENSE")));
}

fn exists(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

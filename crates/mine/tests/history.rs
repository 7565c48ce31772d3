//! What commits of a repository change in its kernels.

#![expect(clippy::unwrap_used, reason = "what fails in set-up fails the test")]

use dataset::{Licenses, Silent};
use stampmill_mine::{Change, ContentFile, History, HistoryOptions};
use std::{fs, path::Path, process::Command, sync::Arc};

/// Runs git in a folder; what fails fails the test.
fn git(folder: &Path, arguments: &[&str]) {
    let identity = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"];
    let done = Command::new("git")
        .args(identity)
        .args(arguments)
        .current_dir(folder)
        .env("GIT_COMMITTER_DATE", "2024-05-31T12:00:00+0000")
        .env("GIT_AUTHOR_DATE", "2024-05-31T12:00:00+0000")
        .output()
        .unwrap();
    assert!(done.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
}

/// Commits these files.
fn commit(folder: &Path, subject: &str, files: &[(&str, &str)]) {
    for (path, text) in files {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    git(folder, &["add", "."]);
    git(folder, &["commit", "-qm", subject]);
}

fn history(folder: &Path, revision: &str, commits: u64) -> (Vec<Change>, u64) {
    let options = HistoryOptions {
        source: format!("git+{}{revision}", folder.display()),
        commits,
        licenses: Licenses::All,
        cache: Some(folder.join("cache")),
        offline: true,
    };
    let mut history = History::open(options, &Arc::default(), &Silent).unwrap();
    let changes = history.by_ref().collect::<stampmill_mine::Result<_>>().unwrap();
    (changes, history.looked_at())
}

fn texts(files: &[ContentFile]) -> Vec<(&str, bool)> {
    files.iter().map(|file| (file.path.as_str(), file.text.contains("* 2"))).collect()
}

fn commits_that_change_kernels_are_told_the_newest_first() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path();
    git(folder, &["init", "-q"]);
    let kernel = |times: &str| {
        format!(
            "#include \"n.h\"\nkernel void k(global int* a) {{ a[get_global_id(0)] = N {times}; }}\n"
        )
    };
    let host = |times: &str| {
        format!("const char* s = \"kernel void e(global int* a) {{ a[0] = 1 {times}; }}\";\n")
    };
    let (one, two) = (kernel("* 1"), kernel("* 2"));
    let (string, longer) = (host("* 1"), host("* 2"));
    let first = [
        ("k/a.cl", one.as_str()),
        ("k/n.h", "#define N 7\n"),
        ("main.c", "int main(void) {}\n"),
        ("host.c", string.as_str()),
    ];
    commit(folder, "begin", &first);
    commit(folder, "twice as much\n\nand why", &[("k/a.cl", two.as_str())]);
    git(folder, &["tag", "v1"]);
    commit(folder, "no kernel", &[("main.c", "int main(void) { return 0; }\n")]);
    commit(folder, "a new kernel", &[("k/b.cl", one.as_str())]);
    commit(folder, "in a string", &[("host.c", longer.as_str())]);

    let (changes, looked) = history(folder, "", 100);
    let subjects: Vec<&str> = changes.iter().map(|change| change.subject.as_str()).collect();
    assert_eq!((subjects, looked), (vec!["in a string", "twice as much"], 5));
    let [string, twice] = changes.as_slice() else { unreachable!("they were counted") };
    assert_eq!(texts(&twice.before), [("k/a.cl", false)]);
    assert_eq!(texts(&twice.after), [("k/a.cl", true)]);
    assert!(twice.after[0].text.contains("#define N 7"), "includes are put in");
    assert_eq!((twice.date.as_str(), twice.commit.len()), ("2024-05-31", 40));
    assert_eq!(twice.after[0].version, twice.commit);
    assert_eq!(texts(&string.before), [("host.c#1", false)]);
    assert_eq!(texts(&string.after), [("host.c#1", true)]);

    let (changes, looked) = history(folder, "@v1", 100);
    assert_eq!((changes.len(), looked), (1, 2));
    let (changes, looked) = history(folder, "", 2);
    assert_eq!((changes.len(), looked), (1, 2));
}

fn what_is_no_repository_has_no_history() {
    let home = tempfile::tempdir().unwrap();
    let said = |source: String| {
        let options = HistoryOptions {
            source,
            commits: 1,
            licenses: Licenses::All,
            cache: Some(home.path().join("cache")),
            offline: true,
        };
        let opened = History::open(options, &Arc::default(), &Silent);
        opened.err().map(|error| error.to_string()).unwrap_or_default()
    };
    let folder = home.path().display();
    assert!(said(folder.to_string()).contains("only a git repository has a history"));
    assert!(said("git+".to_owned()).contains("no repository is named"));
    assert!(said(format!("git+{folder}")).contains("git+ is followed by"));
}

trials::main! {
    commits_that_change_kernels_are_told_the_newest_first: trials::lacks::program("git"),
    what_is_no_repository_has_no_history,
}

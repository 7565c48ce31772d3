//! What a user of `mine` relies on, over the public interface.

#![expect(clippy::unwrap_used, reason = "what fails in set-up fails the test")]

use dataset::{
    Dataset, Licenses,
    stage::{Cancel, Context, Share, merge, run},
};
use stampmill_mine::{ContentFile, Mine, Options, Progress, Report, Result};
use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
};

fn options(home: &Path, sources: &[&str]) -> Options {
    Options {
        sources: sources.iter().map(|source| (*source).to_owned()).collect(),
        licenses: Licenses::All,
        language: dataset::Language::OpenCl,
        cache: Some(home.join("cache")),
        offline: true,
        suite: None,
    }
}

fn mined(home: &Path, sources: &[&str], context: &Context<'_>) -> Result<Report> {
    Ok(run(&Mine::new(options(home, sources), context)?, context)?.summary)
}

fn mine(home: &Path, sources: &[&str]) -> Report {
    mined(home, sources, &Context { jobs: 2, ..Context::new(home.join("raw")) }).unwrap()
}

fn project(home: &Path, name: &str, files: &[(&str, &[u8])]) -> String {
    let folder = home.join(name);
    for (path, content) in files {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
    folder.display().to_string()
}

fn rows(home: &Path) -> Vec<ContentFile> {
    Dataset::open(&home.join("raw"))
        .unwrap()
        .rows()
        .unwrap()
        .collect::<dataset::Result<_>>()
        .unwrap()
}

fn verdicts(home: &Path) -> Vec<(String, String)> {
    rows(home).into_iter().map(|row| (row.path, row.verdict)).collect()
}

/// All bytes of a finished data set.
fn bytes(home: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files: Vec<_> =
        fs::read_dir(home.join("raw")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let read =
        |path: PathBuf| (path.strip_prefix(home).unwrap().to_owned(), fs::read(&path).unwrap());
    files.into_iter().map(read).collect()
}

fn duplicates_go_and_near_duplicates_are_a_family() {
    let home = tempfile::tempdir().unwrap();
    let body = |n: u32| {
        let lines: String =
            (0..30).map(|at| format!("  x[{at}] = y[{at}] * {at} + {n};\n")).collect();
        format!("kernel void a(global int *x, global int *y) {{\n{lines}}}\n")
    };
    let one =
        project(home.path(), "one", &[("a.cl", body(1).as_bytes()), ("b.cl", body(1).as_bytes())]);
    let two = project(
        home.path(),
        "two",
        &[("c.cl", b"kernel void other() {}"), ("d.cl", body(1).replace('3', "7").as_bytes())],
    );
    let report = mine(home.path(), &[&two, &one, &one]);
    assert_eq!((report.sources, report.files, report.unique_files, report.kernels), (2, 4, 3, 3));
    assert_eq!((report.families, report.verdicts["duplicate"], report.packages.len()), (2, 1, 2));
    let rows = rows(home.path());
    let paths: Vec<(&str, u64)> =
        rows.iter().map(|row| (row.path.as_str(), row.duplicates)).collect();
    assert_eq!(paths, [("a.cl", 1), ("c.cl", 0), ("d.cl", 0)]);
    assert_eq!(rows[0].family, rows[2].family);
    assert_ne!(rows[0].family, rows[1].family);
}

/// Stops the run when a source is done.
struct StopAfter(Cancel);

impl Progress for StopAfter {
    fn begin(&self, _: &str, _: u64) {}
    fn advance(&self, _: u64) {
        self.0.cancel();
    }
    fn message(&self, _: &str) {}
}

fn a_stopped_run_goes_on_and_ends_with_the_same_bytes() {
    let home = tempfile::tempdir().unwrap();
    let sources: Vec<String> = (0..5)
        .map(|n| {
            project(
                home.path(),
                &format!("p{n}"),
                &[("k.cl", format!("kernel void k{n}() {{}}").as_bytes())],
            )
        })
        .collect();
    let sources: Vec<&str> = sources.iter().map(String::as_str).collect();
    let cancel = Cancel::default();
    let (raw, stop) = (home.path().join("raw"), StopAfter(cancel.clone()));
    let stopped = Context { jobs: 1, progress: &stop, cancel, ..Context::new(raw) };
    let error = mined(home.path(), &sources, &stopped).unwrap_err();
    assert!(error.to_string().starts_with("stopped after"), "{error}");
    assert!(!home.path().join("raw").exists() && home.path().join("raw.partial").exists());
    // The part that is done is not done again: its source may be gone by now.
    mine(home.path(), &sources);
    let resumed = bytes(home.path());
    fs::remove_dir_all(home.path().join("raw")).unwrap();
    mine(home.path(), &sources);
    assert_eq!(bytes(home.path()), resumed);
    assert!(!home.path().join("raw.partial").exists());
}

fn a_source_that_cannot_be_had_is_reported_and_ends_nothing() {
    let home = tempfile::tempdir().unwrap();
    let good = project(home.path(), "good", &[("a.cl", b"kernel void a() {}")]);
    let broken = home.path().join("broken.tar");
    fs::write(&broken, "no archive").unwrap();
    let sources =
        [good.as_str(), broken.to_str().unwrap(), "deb:clpeak", "git+https://host.invalid/x.git"];
    let report = mine(home.path(), &sources);
    assert_eq!((report.sources, report.failed_sources, report.unique_files), (4, 3, 1));
    let failed = rows(home.path()).into_iter().filter(|row| row.verdict == "source-unavailable");
    assert!(failed.map(|row| row.detail).any(|detail| detail.contains("offline")));
}

fn hostile_files_are_verdicts_and_the_rest_is_mined() {
    let home = tempfile::tempdir().unwrap();
    let folder = project(
        home.path(),
        "p",
        &[
            ("good.cl", b"kernel void good() {}"),
            ("bytes.cl", b"\xff\x00\xfe"),
            ("empty.cl", b""),
            ("self.cl", b"#include \"self.cl\"\n#include \"/etc/passwd\"\nkernel void s() {}\n"),
        ],
    );
    let huge = fs::File::create(Path::new(&folder).join("huge.cl")).unwrap();
    huge.set_len(100 << 20).unwrap();
    std::os::unix::fs::symlink("..", Path::new(&folder).join("loop")).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", Path::new(&folder).join("out.cl")).unwrap();
    let _socket =
        std::os::unix::net::UnixListener::bind(Path::new(&folder).join("socket.cl")).unwrap();
    mine(home.path(), &[&folder]);
    let wanted = [
        ("bytes.cl", "not-utf8"),
        ("empty.cl", "empty"),
        ("good.cl", "accepted"),
        ("huge.cl", "too-large"),
        ("loop", "unsafe-path"),
        ("out.cl", "unsafe-path"),
        ("self.cl", "accepted"),
        ("socket.cl", "not-a-file"),
    ];
    assert_eq!(
        verdicts(home.path()),
        wanted.map(|(path, verdict)| (path.to_owned(), verdict.to_owned()))
    );
    let rows = rows(home.path());
    assert_eq!(rows[6].text, "\n\nkernel void s() {}\n");
    assert_eq!(rows[6].missing_includes, ["/etc/passwd", "self.cl (includes itself)"]);
}

fn every_file_that_is_rejected_has_a_row_however_many_there_are() {
    let home = tempfile::tempdir().unwrap();
    let folder = PathBuf::from(project(home.path(), "p", &[("a.cl", b"kernel void a() {}")]));
    for at in 0..100 {
        let huge = fs::File::create(folder.join(format!("huge{at}.cl"))).unwrap();
        huge.set_len(17 << 20).unwrap();
        std::os::unix::fs::symlink("nothing", folder.join(format!("gone{at}.cl"))).unwrap();
    }
    let mut deep = folder.clone();
    for _ in 0..140 {
        deep.push("d");
        fs::create_dir(&deep).unwrap();
    }
    let report = mine(home.path(), &[folder.to_str().unwrap()]);
    let count = |name: &str| report.verdicts.get(name).copied().unwrap_or_default();
    assert_eq!((count("too-large"), count("unreadable"), count("too-deep")), (100, 100, 1));
    assert_eq!(report.files, 201);
    let rows = rows(home.path());
    let paths: std::collections::BTreeSet<&str> =
        rows.iter().map(|row| row.path.as_str()).collect();
    assert_eq!((rows.len(), paths.len()), (202, 202), "each by its own path");
    assert!(dataset::check(&home.path().join("raw")).unwrap().is_whole());
}

fn names_that_are_no_text_stay_different_in_folders_and_archives() {
    use std::os::unix::ffi::OsStrExt;
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("p");
    fs::create_dir(&folder).unwrap();
    let mut tar = tar::Builder::new(Vec::new());
    for (name, text) in [
        (&b"k\xe9.cl"[..], "kernel void a() {}"),
        (b"k\xe8.cl", "kernel void b() {}"),
        (b"k\\xe8.cl", "kernel void c() {}"),
    ] {
        fs::write(folder.join(std::ffi::OsStr::from_bytes(name)), text).unwrap();
        let mut header = tar::Header::new_gnu();
        header.as_old_mut().name[..name.len()].copy_from_slice(name);
        header.set_size(text.len() as u64);
        header.set_entry_type(tar::EntryType::Regular);
        header.set_cksum();
        tar.append(&header, text.as_bytes()).unwrap();
    }
    let archive = home.path().join("p.tar");
    fs::write(&archive, tar.into_inner().unwrap()).unwrap();
    for source in [&folder, &archive] {
        let context = Context { force: true, ..Context::new(home.path().join("raw")) };
        let report = mined(home.path(), &[source.to_str().unwrap()], &context).unwrap();
        assert_eq!(report.unique_files, 3, "{}", source.display());
        let paths: Vec<String> = rows(home.path()).into_iter().map(|row| row.path).collect();
        assert_eq!(paths, ["k\\x5cxe8.cl", "k\\xe8.cl", "k\\xe9.cl"], "{}", source.display());
    }
}

fn a_zip_whose_entries_share_their_bytes_is_read_once() {
    let home = tempfile::tempdir().unwrap();
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    zip.start_file("a.cl", zip::write::SimpleFileOptions::default()).unwrap();
    zip.write_all(b"kernel void a() {}").unwrap();
    let whole = zip.finish().unwrap().into_inner();
    // The directory's one entry, once more under each of other names, all of the same bytes.
    let end = whole.len() - 22;
    let start = u32::from_le_bytes(whole[end + 16..end + 20].try_into().unwrap()) as usize;
    let entry = &whole[start..end];
    let name = entry.windows(4).position(|at| at == b"a.cl").unwrap();
    let mut bomb = whole[..start].to_vec();
    for letter in b'a'..=b'z' {
        let mut copy = entry.to_vec();
        copy[name] = letter;
        bomb.extend(copy);
    }
    let size = bomb.len() - start;
    let mut tail = whole[end..].to_vec();
    tail[8..10].copy_from_slice(&26u16.to_le_bytes());
    tail[10..12].copy_from_slice(&26u16.to_le_bytes());
    tail[12..16].copy_from_slice(&(size as u32).to_le_bytes());
    bomb.extend(tail);
    let path = home.path().join("bomb.zip");
    fs::write(&path, bomb).unwrap();
    let report = mine(home.path(), &[path.to_str().unwrap()]);
    assert_eq!((report.unique_files, report.verdicts["broken-archive"]), (1, 25));
}

fn archives_write_nothing_and_what_leads_out_of_them_is_named() {
    let home = tempfile::tempdir().unwrap();
    let mut tar = tar::Builder::new(Vec::new());
    let mut add = |name: &[u8], content: &[u8], kind| {
        let mut header = tar::Header::new_gnu();
        // `set_path` refuses what a hostile archive holds.
        header.as_old_mut().name[..name.len()].copy_from_slice(name);
        header.set_size(content.len() as u64);
        header.set_entry_type(kind);
        header.set_link_name("/etc").unwrap();
        header.set_cksum();
        tar.append(&header, content).unwrap();
    };
    add(b"x-1/a.cl", b"kernel void a() {}", tar::EntryType::Regular);
    add(b"../../escaped.cl", b"kernel void b() {}", tar::EntryType::Regular);
    add(b"/tmp/escaped.cl", b"kernel void c() {}", tar::EntryType::Regular);
    add(b"x-1/link", b"", tar::EntryType::Symlink);
    add(b"x-1/link/d.cl", b"kernel void d() {}", tar::EntryType::Regular);
    let path = home.path().join("evil.tar.gz");
    let mut gzip = flate2::write::GzEncoder::new(
        fs::File::create(&path).unwrap(),
        flate2::Compression::fast(),
    );
    gzip.write_all(&tar.into_inner().unwrap()).unwrap();
    gzip.finish().unwrap();
    let report = mine(home.path(), &[path.to_str().unwrap()]);
    assert_eq!((report.unique_files, report.verdicts["unsafe-path"]), (2, 2));
    let left: Vec<_> =
        fs::read_dir(home.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left.len(), 2, "{left:?}");
    assert_eq!(report.packages[0].package, "evil");
}

fn a_zip_that_breaks_off_gives_a_verdict() {
    let home = tempfile::tempdir().unwrap();
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let stored = zip::write::SimpleFileOptions::default();
    zip.start_file("a.cl", stored).unwrap();
    zip.write_all(b"kernel void a() {}").unwrap();
    zip.start_file("../b.cl", stored).unwrap();
    zip.write_all(b"kernel void b() {}").unwrap();
    let whole = zip.finish().unwrap().into_inner();
    let (good, bad) = (home.path().join("good.zip"), home.path().join("bad.zip"));
    fs::write(&good, &whole).unwrap();
    fs::write(&bad, &whole[..whole.len() / 2]).unwrap();
    let sources = [good.to_str().unwrap(), bad.to_str().unwrap()];
    let report = mine(home.path(), &sources);
    assert_eq!((report.unique_files, report.failed_sources), (1, 1));
    assert_eq!(report.verdicts["unsafe-path"], 1);
}

fn an_output_that_is_there_is_kept() {
    let home = tempfile::tempdir().unwrap();
    let folder = project(home.path(), "p", &[("a.cl", b"kernel void a() {}")]);
    let run = |force| {
        let context = Context { force, ..Context::new(home.path().join("raw")) };
        mined(home.path(), &[&folder], &context)
    };
    run(false).unwrap();
    assert!(run(false).unwrap_err().to_string().contains("exists already"));
    assert_eq!(run(true).unwrap().unique_files, 1);
}

/// Runs git in a folder; what fails fails the test.
fn git(folder: &str, arguments: &[&str]) {
    let identity = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"];
    let mut command = std::process::Command::new("git");
    let done = command.args(identity).args(arguments).current_dir(folder).output().unwrap();
    assert!(done.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
}

/// A repository of two commits, the first of which is `v1`.
fn repository(home: &Path, name: &str) -> String {
    let folder = project(home, name, &[("k/a.cl", b"kernel void first() {}")]);
    git(&folder, &["init", "-q"]);
    git(&folder, &["add", "."]);
    git(&folder, &["commit", "-qm", "one"]);
    git(&folder, &["tag", "v1"]);
    fs::write(Path::new(&folder).join("k/a.cl"), "kernel void second() {}").unwrap();
    git(&folder, &["commit", "-qam", "two"]);
    folder
}

/// The text of the one program of a repository.
fn text_at(home: &Path, source: &str) -> String {
    let context = Context { force: true, ..Context::new(home.join("raw")) };
    let report = mined(home, &[source], &context).unwrap();
    assert_eq!((report.failed_sources, report.packages[0].version.len()), (0, 40), "{report:?}");
    rows(home)[0].text.clone()
}

fn a_git_repository_is_read_at_any_revision() {
    let home = tempfile::tempdir().unwrap();
    let folder = repository(home.path(), "repo");
    let text = |source: String| text_at(home.path(), &source);
    assert_eq!(text(format!("git+{folder}")), "kernel void second() {}\n");
    assert_eq!(text(format!("git+{folder}@v1")), "kernel void first() {}\n");
}

/// Runs are offline: nothing is cloned, so what is committed later is there.
fn a_clone_of_ones_own_is_read_where_it_lies_by_its_url() {
    let home = tempfile::tempdir().unwrap();
    let folder = repository(home.path(), "me@home here");
    let spelled = folder.replace(' ', "%20");
    let text = |source: &str| text_at(home.path(), source);
    for url in [
        format!("git+file://{folder}"),
        format!("git+file://{spelled}"),
        format!("git+file://localhost{folder}"),
        format!("git+file://{folder}/.git"),
    ] {
        assert_eq!(text(&url), "kernel void second() {}\n", "{url}");
        assert_eq!(text(&format!("{url}@v1")), "kernel void first() {}\n", "{url}");
    }
    fs::write(Path::new(&folder).join("k/a.cl"), "kernel void third() {}").unwrap();
    git(&folder, &["commit", "-qam", "three"]);
    assert_eq!(text(&format!("git+file://{folder}")), "kernel void third() {}\n");
    let context = Context { force: true, ..Context::new(home.path().join("raw")) };
    let gone = mined(home.path(), &["git+file:///no/such/clone"], &context).unwrap();
    let why = &gone.packages[0].notes[0];
    assert!(gone.failed_sources == 1 && why.contains("nothing at /no"), "{why}");
}

fn three_parts_merged_are_the_whole() {
    let home = tempfile::tempdir().unwrap();
    let license = include_bytes!("../../../LICENSE-MIT");
    let mut sources: Vec<String> = (0..7)
        .map(|n| {
            let text = format!("kernel void k{}(global int *x) {{ x[0] = {}; }}", n % 3, n % 2);
            let files: [(&str, &[u8]); 2] = [("k.cl", text.as_bytes()), ("LICENSE", license)];
            project(home.path(), &format!("p{n}"), &files)
        })
        .collect();
    sources.extend(["deb:clpeak".to_owned(), sources[0].clone()]);
    let sources: Vec<&str> = sources.iter().rev().map(String::as_str).collect();
    let at = |name: &str| Context { jobs: 2, ..Context::new(home.path().join(name)) };
    let whole = mined(home.path(), &sources, &at("raw")).unwrap();
    assert_eq!((whole.sources, whole.failed_sources, whole.unique_files), (8, 1, 6));
    let shares = [2, 3, 1].map(|index| {
        let share = Some(Share { index, count: 3 });
        let context = Context { share, ..at(&index.to_string()) };
        mined(home.path(), &sources, &context).unwrap();
        context.out
    });
    let merged = merge::<Mine<'_>>(&shares, &at("merged")).unwrap();
    assert_eq!(merged.summary, whole);
    let of = |name: &str| Dataset::open(&home.path().join(name)).unwrap().manifest().clone();
    let (merged, whole) = (of("merged"), of("raw"));
    assert_eq!((merged.identity, merged.notes), (whole.identity, whole.notes));
}

trials::main! {
    duplicates_go_and_near_duplicates_are_a_family,
    a_stopped_run_goes_on_and_ends_with_the_same_bytes,
    a_source_that_cannot_be_had_is_reported_and_ends_nothing,
    hostile_files_are_verdicts_and_the_rest_is_mined,
    every_file_that_is_rejected_has_a_row_however_many_there_are,
    names_that_are_no_text_stay_different_in_folders_and_archives,
    a_zip_whose_entries_share_their_bytes_is_read_once,
    archives_write_nothing_and_what_leads_out_of_them_is_named,
    a_zip_that_breaks_off_gives_a_verdict,
    an_output_that_is_there_is_kept,
    a_git_repository_is_read_at_any_revision: trials::lacks::program("git"),
    a_clone_of_ones_own_is_read_where_it_lies_by_its_url: trials::lacks::program("git"),
    three_parts_merged_are_the_whole,
}

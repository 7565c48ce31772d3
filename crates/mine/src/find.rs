//! From a package to content files.

use crate::{
    Suite,
    defines::Hints,
    embedded,
    include::{self, Inlined, Library},
    kernel,
    license::Licensing,
    packed::Packed,
    row::{self, ContentFile},
    source::Package,
    tree::{Host, Role, Tree, role},
};
use dataset::{Decoded, Language, Licenses, Signature, Verdict, content_hash};
use rayon::prelude::*;
use rows::ContentVerdict;
use std::{
    collections::BTreeMap,
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
};

/// The text of a file with Unix line ends; `None` for a binary one.
pub(crate) fn decode(bytes: &[u8]) -> Option<Decoded> {
    let Decoded { text, latin1 } = dataset::decode(bytes)?;
    let text =
        if text.contains('\r') { text.replace("\r\n", "\n").replace('\r', "\n") } else { text };
    Some(Decoded { text, latin1 })
}

/// A content file before its includes are inlined.
struct Candidate<'a> {
    path: &'a str,
    /// Line of the host program, for embedded ones.
    line: Option<u32>,
    text: String,
    template: bool,
    verdict: Verdict,
}

/// All content files of a package in one language, the news about its files, and the license texts
/// they name.
pub(crate) fn rows(
    package: &Package,
    source: &str,
    admitted: Licenses,
    language: Language,
    suite: Option<&'static Suite>,
) -> Vec<Packed> {
    rows_of(package, source, admitted, language, suite, &|_| true, &AtomicBool::new(false))
}

/// The same of files whose paths are `wanted` alone; what they include may be any. Where `cancelled` is raised, some of them:
/// then they say nothing of the package.
pub(crate) fn rows_of(
    package: &Package,
    source: &str,
    admitted: Licenses,
    language: Language,
    suite: Option<&'static Suite>,
    wanted: &dyn Fn(&str) -> bool,
    cancelled: &AtomicBool,
) -> Vec<Packed> {
    let stops = || cancelled.load(Ordering::Relaxed);
    let tree = &package.tree;
    let mut hints = Hints::of(tree);
    hints.suite = suite;
    let library = Library::new(tree, &hints, language);
    let licensing = Licensing::of(package);
    let files: Vec<(&str, &[u8])> = tree.iter().filter(|(path, _)| wanted(path)).collect();
    let row = ContentFile {
        language: language.name().to_owned(),
        source: source.to_owned(),
        package: package.name.clone(),
        version: package.version.clone(),
        ..ContentFile::default()
    };
    let mut rows: Vec<Packed> = Vec::new();
    let mut room = PACKAGE_ROOM;
    // A part of the files at a time: what includes make of them is bounded after each.
    for files in files.chunks(FILES_AT_A_TIME) {
        if stops() {
            return rows;
        }
        let found = files.par_iter().flat_map_iter(|(path, content)| {
            if stops() {
                return Vec::new();
            }
            let found = match language {
                Language::C | Language::Cxx | Language::Rust => {
                    program(language, path, content).into_iter().collect()
                }
                Language::Cuda => of_cuda(tree, path, content),
                _ => candidates(tree, path, content),
            };
            let mut room = FILE_ROOM;
            let rows = found.into_iter().map(|found| {
                let row = finish(found, &library, &hints, &licensing, admitted, &row);
                room.admit(Packed::of(row))
            });
            rows.collect::<Vec<_>>()
        });
        let found: Vec<Packed> = found.collect();
        rows.extend(found.into_iter().map(|row| room.admit(row)));
    }
    rows.extend(news(tree, &row).map(Packed::of));
    let used: BTreeMap<String, String> = rows
        .iter()
        .map(Packed::row)
        .filter(|row| !row.license_text.is_empty())
        .filter_map(|row| {
            Some((row.license_text.clone(), licensing.text(&row.license_text)?.to_owned()))
        })
        .collect();
    let used = used.into_iter().map(|(id, text)| ContentFile {
        id,
        text,
        language: "text".to_owned(),
        kind: row::LICENSE.to_owned(),
        verdict: row::LICENSE_TEXT.to_owned(),
        ..row.clone()
    });
    rows.extend(used.map(Packed::of));
    let place = |row: &Packed| {
        let ContentFile { path, id, verdict, .. } = row.row();
        (path.clone(), id.clone(), verdict.clone())
    };
    rows.sort_by_cached_key(place);
    rows
}

/// Files whose content files are made before their sizes are looked at.
const FILES_AT_A_TIME: usize = 64;
/// What the content files in one file may take, their includes inlined.
const FILE_ROOM: Room = Room::new(64 << 20, 64 << 20);
/// What those of one package may take on disk, and compressed in memory.
const PACKAGE_ROOM: Room = Room::new(32 << 30, 1 << 30);

/// How much text there may be still.
#[derive(Clone, Copy)]
struct Room {
    text: u64,
    packed: u64,
    whole: u64,
}

impl Room {
    const fn new(text: u64, packed: u64) -> Room {
        Room { text, packed, whole: text }
    }

    /// The row, without its text where that is one too many.
    fn admit(&mut self, row: Packed) -> Packed {
        let (text, packed) = row.sizes();
        if text <= self.text && packed <= self.packed {
            self.text -= text;
            self.packed -= packed;
            return row;
        }
        let detail =
            format!("more than {} MiB with all before it and their includes", self.whole >> 20);
        Packed::of(ContentFile {
            id: String::new(),
            verdict: INCLUDES_TOO_LARGE.to_owned(),
            detail,
            ..row.drop_text()
        })
    }
}

/// What happened to files and archives on the way in, each with its row.
fn news<'a>(tree: &'a Tree, row: &'a ContentFile) -> impl Iterator<Item = ContentFile> + 'a {
    let spelled = tree.news.iter().map(|(path, verdict)| {
        let of_file = matches!(verdict.name.as_ref(), "too-large" | "unreadable" | "not-a-file");
        ContentFile {
            kind: if of_file && !path.is_empty() { row::FILE } else { row::SOURCE }.to_owned(),
            path: path.clone(),
            verdict: verdict.name.to_string(),
            detail: verdict.detail.clone(),
            ..row.clone()
        }
    });
    spelled.chain(tree.more_news.iter().map(|(name, count)| ContentFile {
        kind: row::SOURCE.to_owned(),
        verdict: name.clone(),
        detail: format!("{count} more like these"),
        ..row.clone()
    }))
}

const INCLUDES_TOO_LARGE: &str = ContentVerdict::IncludesTooLarge.name();

fn finish(
    found: Candidate<'_>,
    library: &Library<'_>,
    hints: &Hints,
    licensing: &Licensing<'_>,
    admitted: Licenses,
    row: &ContentFile,
) -> ContentFile {
    let Candidate { path, line, text, template, verdict } = found;
    let license = licensing.of_file(path, &text);
    let mut row = ContentFile {
        kind: if line.is_some() { row::EMBEDDED } else { row::FILE }.to_owned(),
        path: line.map_or_else(|| path.to_owned(), |line| format!("{path}#{line}")),
        license: license.expression,
        license_source: license.source.to_owned(),
        license_text: license.text_id,
        verdict: verdict.name.to_string(),
        detail: verdict.detail,
        ..row.clone()
    };
    if row.verdict != Verdict::ACCEPTED {
        return row;
    }
    if !admitted.admit(&row.license) {
        row.verdict = ContentVerdict::LicenseNotAdmitted.to_string();
        row.detail = if row.license.is_empty() {
            "no license found".to_owned()
        } else {
            row.license.clone()
        };
        return row;
    }
    let Inlined { text: whole, missing, too_large } = match row.language == Language::Rust.name() {
        true => Inlined { text: text.clone(), missing: Vec::new(), too_large: false },
        false => include::inline(library, path, &text),
    };
    row.missing_includes = missing;
    if too_large {
        row.verdict = INCLUDES_TOO_LARGE.to_owned();
        row.detail = "more than 16 MiB with its includes".to_owned();
        return row;
    }
    let whole = format!("{}\n", lexer::trim_markers_end(&whole));
    row.signature = Signature::of(lexer::coarse(&text)).values().to_vec();
    let language = row.language.parse().unwrap_or_default();
    if matches!(language, Language::OpenCl | Language::Cuda) {
        row.kernels = kernel::finder(&whole, language).signatures(&text).len() as u64;
        row.defines = hints.options(path, &whole);
    }
    row.id = content_hash(whole.as_bytes());
    row.text = whole;
    row.template = template;
    row
}

/// The program in C, C++ or Rust that a file is.
fn program<'a>(language: Language, path: &'a str, content: &[u8]) -> Option<Candidate<'a>> {
    if Language::of(Path::new(path)) != Some(language) {
        return None;
    }
    let (text, verdict) = match decode(content) {
        None => (String::new(), Verdict::new(ContentVerdict::NotUtf8, "the file is binary")),
        Some(decoded) if decoded.text.trim().is_empty() => {
            (String::new(), Verdict::new(ContentVerdict::Empty, ""))
        }
        Some(decoded) => (decoded.text, Verdict::accepted()),
    };
    Some(Candidate { path, line: None, text, template: false, verdict })
}

/// The content files in one file.
fn candidates<'a>(tree: &Tree, path: &'a str, content: &[u8]) -> Vec<Candidate<'a>> {
    let turned_away = |verdict| {
        vec![Candidate { path, line: None, text: String::new(), template: false, verdict }]
    };
    match role(path) {
        Some(Role::Kernel) => {
            let Some(decoded) = decode(content) else {
                return turned_away(Verdict::new(ContentVerdict::NotUtf8, "the file is binary"));
            };
            let text = embedded::unwrap(&decoded.text).unwrap_or(decoded.text);
            let first = text.trim_start().chars().next();
            let Some(first) = first else {
                return turned_away(Verdict::new(ContentVerdict::Empty, ""));
            };
            // Common Lisp and IRAF scripts share the ending.
            if first == ';' || first == '(' {
                return turned_away(Verdict::new(ContentVerdict::NotOpenCl, "reads like Lisp"));
            }
            let verdict = match decoded.latin1 {
                true => Verdict::new(Verdict::ACCEPTED, "read as Latin-1"),
                false => Verdict::accepted(),
            };
            vec![Candidate { path, line: None, text, template: false, verdict }]
        }
        Some(Role::Header) => {
            if !tree_holds_kernel(content) {
                return Vec::new();
            }
            let Some(decoded) = decode(content) else { return Vec::new() };
            let found = strings(tree, path, Host::C, &decoded.text, Language::OpenCl);
            if !found.is_empty() || kernel::is_metal(&decoded.text) {
                return found;
            }
            let text = embedded::unwrap(&decoded.text).unwrap_or(decoded.text);
            // Kernels of others' dialects are spelled with macros; here the word must stand.
            if !text.contains("kernel")
                || kernel::finder("", Language::OpenCl).signatures(&text).is_empty()
            {
                return Vec::new();
            }
            vec![Candidate {
                path,
                line: None,
                text,
                template: false,
                verdict: Verdict::accepted(),
            }]
        }
        Some(Role::Host(host)) => {
            if !tree_holds_kernel(content) {
                return Vec::new();
            }
            decode(content)
                .map(|decoded| strings(tree, path, host, &decoded.text, Language::OpenCl))
                .unwrap_or_default()
        }
        Some(Role::Build | Role::License) | None => Vec::new(),
    }
}

/// The content files of CUDA or HIP in one file: the file itself where a kernel stands in it, else the strings
/// that hold one.
fn of_cuda<'a>(tree: &Tree, path: &'a str, content: &[u8]) -> Vec<Candidate<'a>> {
    let whole =
        |text, verdict| vec![Candidate { path, line: None, text, template: false, verdict }];
    let is_program = Language::of(Path::new(path)) == Some(Language::Cuda);
    let host = match role(path) {
        Some(Role::Header | Role::Kernel) => Host::C,
        Some(Role::Host(host)) => host,
        Some(Role::Build | Role::License) | None => return Vec::new(),
    };
    let holds = crate::tree::contains(content, kernel::GLOBAL.as_bytes());
    if !holds && !is_program {
        return Vec::new();
    }
    let Some(Decoded { text, .. }) = decode(content) else {
        return match is_program {
            true => {
                whole(String::new(), Verdict::new(ContentVerdict::NotUtf8, "the file is binary"))
            }
            false => Vec::new(),
        };
    };
    // A head in a string is no head of the program's own.
    let stands = holds && host == Host::C && !lexer::cuda_kernel_names(&text).is_empty();
    let strings = match holds {
        true => strings(tree, path, host, &text, Language::Cuda),
        false => Vec::new(),
    };
    match (stands, is_program) {
        (true, _) => {
            let mut found = whole(text, Verdict::accepted());
            found.extend(strings);
            found
        }
        (false, true) if strings.is_empty() => {
            let verdict = match text.trim().is_empty() {
                true => Verdict::new(ContentVerdict::Empty, ""),
                false => Verdict::new(ContentVerdict::NoKernel, "host code alone"),
            };
            whole(String::new(), verdict)
        }
        (false, _) => strings,
    }
}

/// Whether a look at a host program may be worth its time.
fn tree_holds_kernel(content: &[u8]) -> bool {
    // CLBlast's host programs name the files of their kernels only.
    crate::tree::contains(content, b"kernel")
}

fn strings<'a>(
    tree: &Tree,
    path: &'a str,
    host: Host,
    text: &str,
    language: Language,
) -> Vec<Candidate<'a>> {
    let include = |name: &str| {
        let base = name.rsplit('/').next()?;
        if role(base) != Some(Role::Kernel) {
            return None;
        }
        let near = crate::tree::join(crate::tree::folder(path), name);
        let found = near.filter(|path| tree.get(path).is_some()).or_else(|| {
            let named = tree.named(base);
            (named.len() == 1).then(|| named[0].clone())
        })?;
        embedded::unwrap(&decode(tree.get(&found)?)?.text)
    };
    embedded::extract(host, text, language, &include)
        .into_iter()
        .map(|found| Candidate {
            path,
            line: Some(found.line),
            text: found.text.replace("\r\n", "\n"),
            template: found.template,
            verdict: Verdict::accepted(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(files: &[(&str, &[u8])]) -> Package {
        let mut package = Package::new("p", "1");
        for (path, content) in files {
            package.tree.offer(path, None, &mut &content[..]).unwrap();
        }
        package
    }

    fn found(package: &Package, licenses: Licenses, language: Language) -> Vec<ContentFile> {
        rows(package, "folder", licenses, language, None).into_iter().map(Packed::unpack).collect()
    }

    #[test]
    fn every_file_that_could_be_a_program_has_its_verdict() {
        let found = found(
            &package(&[
                ("good.cl", b"kernel void a() {}"),
                ("latin.cl", b"// Andr\xe9\nkernel void b() {}"),
                ("binary.cl", b"\x00\x01\x02"),
                ("empty.cl", b"  \n"),
                ("lisp.cl", b"; lisp\n(defun kernel ())"),
                ("plain.h", b"int kernel(void);"),
                ("host.c", b"const char *s = \"kernel void c(void) {\\n\" \"}\\n\";"),
            ]),
            Licenses::All,
            Language::OpenCl,
        );
        let short: Vec<(&str, &str)> =
            found.iter().map(|r| (r.path.as_str(), r.verdict.as_str())).collect();
        let wanted = [
            ("binary.cl", "not-utf8"),
            ("empty.cl", "empty"),
            ("good.cl", "accepted"),
            ("host.c#1", "accepted"),
            ("latin.cl", "accepted"),
            ("lisp.cl", "not-opencl"),
        ];
        assert_eq!(short, wanted);
        assert_eq!(found[4].text, "// André\nkernel void b() {}\n");
        assert_eq!(found[3].kernels, 1);
    }

    #[test]
    fn a_stop_is_seen_before_the_next_files() {
        let package = package(&[("good.cl", b"kernel void a() {}")]);
        let found = |stopped| {
            let cancelled = AtomicBool::new(stopped);
            let (licenses, language) = (Licenses::All, Language::OpenCl);
            rows_of(&package, "folder", licenses, language, None, &|_| true, &cancelled).len()
        };
        assert_eq!([found(false), found(true)], [1, 0]);
    }

    #[test]
    fn c_programs_are_found_where_c_is_wanted() {
        let files: [(&str, &[u8]); 4] = [
            (
                "a.c",
                b"#include <math.h>\n#include \"a.h\"\n#include <else.h>\nint a(T b) { return b; }",
            ),
            ("a.h", b"typedef int T;"),
            ("empty.c", b"\n"),
            ("k.cl", b"kernel void a() {}"),
        ];
        let found = found(&package(&files), Licenses::All, Language::C);
        let short: Vec<(&str, &str)> =
            found.iter().map(|r| (r.path.as_str(), r.verdict.as_str())).collect();
        assert_eq!(short, [("a.c", "accepted"), ("empty.c", "empty")]);
        let lines = ["#line 1 \"a.h\"", "typedef int T;", "#line 3 \"a.c\""];
        let header = lines.join("\n");
        let whole = format!("#include <math.h>\n{header}\n\nint a(T b) {{ return b; }}\n");
        assert_eq!(found[0].text, whole);
        assert_eq!(found[0].missing_includes, ["else.h"]);
        assert_eq!(found[0].language, "c");
    }

    #[test]
    fn kernels_in_cuda_are_found_in_files_and_strings() {
        let files: [(&str, &[u8]); 8] = [
            ("a.cu", b"#include \"a.cuh\"\n#include <cub/cub.cuh>\n__global__ void a(T *x) { x[0] = 1; }"),
            ("a.cuh", b"typedef int T;"),
            ("b.cuh", b"template <class T> __global__ void __launch_bounds__(8) b(T *x) { x[0] = 1; }"),
            ("empty.hip", b"\n"),
            ("hip.cpp", b"__global__ void c(int *x) { x[0] = 1; }"),
            ("host.cu", b"int main() { return 0; }"),
            ("k.cl", b"kernel void d(global int *x) {}"),
            ("raw.py", b"k = '''extern \"C\" __global__ void e(int *x) { x[0] = 1; }'''"),
        ];
        let found = found(&package(&files), Licenses::All, Language::Cuda);
        let short: Vec<(&str, &str, u64)> = found
            .iter()
            .map(|row| (row.path.as_str(), row.verdict.as_str(), row.kernels))
            .collect();
        let wanted = [
            ("a.cu", "accepted", 1),
            ("b.cuh", "accepted", 1),
            ("empty.hip", "empty", 0),
            ("hip.cpp", "accepted", 1),
            ("host.cu", "no-kernel", 0),
            ("raw.py#1", "accepted", 1),
        ];
        assert_eq!(short, wanted);
        let header = "#line 1 \"a.cuh\"\ntypedef int T;\n#line 2 \"a.cu\"\n";
        let whole = format!("{header}\n__global__ void a(T *x) {{ x[0] = 1; }}\n");
        assert_eq!(found[0].text, whole);
        assert_eq!(found[0].language, "cuda");
        assert_eq!(found[0].missing_includes, ["cub/cub.cuh"]);
    }

    #[test]
    fn texts_beyond_the_limit_of_a_package_are_rows_without_them() {
        let row = |text: &str| ContentFile {
            id: "1".into(),
            text: text.into(),
            verdict: Verdict::ACCEPTED.into(),
            ..ContentFile::default()
        };
        let mut room = Room::new(6, 6);
        let limited: Vec<(String, String)> = ["1234", "5678", "12", ""]
            .map(|text| room.admit(Packed::of(row(text))).unpack())
            .map(|row| (row.text, row.verdict))
            .into();
        let kept = |text: &str| (text.to_owned(), Verdict::ACCEPTED.to_owned());
        let left = (String::new(), INCLUDES_TOO_LARGE.to_owned());
        assert_eq!(limited, [kept("1234"), left, kept("12"), kept("")]);
    }

    #[test]
    fn the_license_filter_turns_files_away_by_name() {
        let files: [(&str, &[u8]); 2] = [
            ("free.cl", b"// SPDX-License-Identifier: MIT\nkernel void a() {}"),
            ("gpl.cl", b"// SPDX-License-Identifier: GPL-3.0-only\nkernel void a() {}"),
        ];
        let found = found(&package(&files), Licenses::Permissive, Language::OpenCl);
        let verdicts: Vec<&str> = found.iter().map(|row| row.verdict.as_str()).collect();
        assert_eq!(verdicts, ["accepted", "license-not-admitted"]);
    }
}

//! What is found only when all rows are looked at, by the executors: `--cluster-keys 0` has them compare whatever there is.

use crate::{
    Done,
    bucket::{self, Server, Trouble},
    home::{Home, put},
    objects::{failed, is_same, nothing_left, run, stage, up_with},
    same::compare,
    stage::Stage,
    up::{self, Up},
};
use std::{fmt::Write, fs, process::Command};

const PARTS: u32 = 5;

/// A number that looks drawn.
fn drawn(at: u32) -> u32 {
    at.wrapping_mul(2_654_435_769).rotate_left(9).wrapping_mul(2_246_822_519) >> 8
}

/// What stands in line `line` of a text of this kind; variants differ in one line from variant 0.
fn value(kind: u32, variant: u32, line: u32) -> u32 {
    drawn(kind * 1000 + line) + u32::from(variant > 0 && line == 6 * variant)
}

/// Kernels of three families, each of eight kernels, each of these twice.
fn kernels(home: &Home) {
    for (kind, variant, copy) in each(3, 8, 2) {
        let mut text = format!("// {copy}\nkernel void k(global int *a, int n) {{ int s = n;\n");
        for line in 0..70 {
            let value = value(kind, variant, line) % 5000;
            writeln!(text, "  s = s * n + a[{value}];").expect("text grows");
        }
        text.push_str("  a[get_global_id(0)] = s; }\n");
        put(home, &format!("programs/near/{kind}-{variant}-{copy}.cl"), &text);
    }
}

/// The same of modules.
fn texts(home: &Home) {
    let operators = ["add", "sub", "mul", "xor", "or", "and", "shl", "lshr"];
    for (kind, variant, copy) in each(3, 8, 2) {
        let mut text = "define i32 @f(i32 %x0) {\n".to_owned();
        for line in 0..70 {
            let operator = operators[value(kind, variant, line) as usize % operators.len()];
            writeln!(text, "  %x{} = {operator} i32 %x{line}, %x0", line + 1).expect("text grows");
        }
        text.push_str("  ret i32 %x70\n}\n");
        put(home, &format!("texts/{kind}-{variant}-{copy}.ll"), &text);
    }
}

fn each(kinds: u32, variants: u32, copies: u32) -> impl Iterator<Item = (u32, u32, u32)> {
    (0..kinds * variants * copies)
        .map(move |at| (at % kinds, at / kinds % variants, at / kinds / variants))
}

/// What a query says of `made/out`.
fn says(home: &Home, sql: &str, expected: &str) -> Result<(), String> {
    let mut command = up::command(home);
    command.args(["query", sql, "d=made/out", "--format", "jsonl"]);
    let said = String::from_utf8_lossy(&up::well(command)?.stdout).trim().to_owned();
    match said == expected {
        true => Ok(()),
        false => Err(format!("{sql}: {said} instead of {expected}")),
    }
}

/// Run a stage alone and on a cluster whose executors compare all rows.
fn by_executors(home: &Home, stage: &Stage, check: impl Fn() -> Result<(), String>) -> Done {
    home.run_well(stage)?;
    check()?;
    fs::rename(home.path().join("made/out"), home.path().join("alone")).map_err(failed)?;
    let cluster = Up::start_with(home, 2, &["--memory", "32MiB"], &[])?;
    let mut command = up::on_cluster(home, stage, &cluster.url, PARTS);
    command.args(["--cluster-keys", "0"]);
    up::well(command)?;
    up::nothing_beside(home)?;
    check()?;
    let compared = compare(home, stage)?;
    cluster.end()?;
    Ok(compared)
}

/// Equal kernels.
pub(crate) fn keys() -> Done {
    let stage = stage("prepare")?;
    let home = Home::new(stage);
    let text = |at: u32| {
        format!("// {at}\nkernel void k(global int *a) {{ a[get_global_id(0)] += {}; }}\n", at % 7)
    };
    (0..40).for_each(|at| put(&home, &format!("programs/again/{at}.cl"), &text(at)));
    by_executors(&home, stage, || {
        let sql = "SELECT count(*) AS n FROM d WHERE verdict = 'duplicate' AND path LIKE 'again/%'";
        says(&home, sql, r#"{"n":33}"#)
    })
}

const KEPT: &str =
    "SELECT count(DISTINCT family) AS families, count(*) AS n FROM d WHERE verdict = 'accepted'";

/// Kernels that are near to each other.
pub(crate) fn families() -> Done {
    let stage = stage("prepare")?;
    let home = Home::new(stage);
    kernels(&home);
    by_executors(&home, stage, || {
        let sql = format!("{KEPT} AND path LIKE 'near/%'");
        says(&home, &sql, r#"{"families":3,"n":24}"#)
    })
}

/// Modules of one structure, and near ones; what is no cluster and what are no modules is said.
pub(crate) fn modules() -> Done {
    let stage = stage("ir-dedup")?;
    let home = Home::new(stage);
    texts(&home);
    home.must("ir extract texts --json --force --out modules");
    let made = by_executors(&home, stage, || says(&home, KEPT, r#"{"families":3,"n":24}"#))?;
    fs::remove_dir_all(home.path().join("made/out")).map_err(failed)?;
    let gone = up::on_cluster(&home, stage, "http://127.0.0.1:9", PARTS);
    up::refused(gone, &["no scheduler answers at http://127.0.0.1:9"])?;
    let cluster = Up::start(&home, 1)?;
    let mut others = up::command(&home);
    others.args(["ir", "dedup", "texts", "--out", "made/out", "--cluster", &cluster.url]);
    up::refused(others, &["texts"])?;
    up::nothing_beside(&home)?;
    cluster.end()?;
    Ok(made)
}

/// All of it where machines have nothing but an object store in common.
pub(crate) fn by_url() -> Done {
    let home = Home::new(stage("prepare")?);
    kernels(&home);
    texts(&home);
    let server = Server::start(&home)?;
    for line in ["mine programs --quiet --out @raw", "ir extract texts --quiet --out @modules"] {
        up::well(run(server.command(&home), line))?;
    }
    up::well(run(up::command(&home), "mine programs --quiet --out raw"))?;
    // The executors' machine: another folder, another cache.
    let there = Home::new(stage("steer")?);
    let cluster = up_with(&there, &server, 2)?;
    let on = |command: Command, line: &str, out: &str| {
        let on = format!("--cluster {} --cluster-parts 4 --cluster-keys 0", cluster.url);
        run(command, &format!("{line} --quiet {on} --out @{out}"))
    };
    let mut bytes = 0;
    let lines = [
        ("kernels", "prepare raw", "prepare @raw"),
        ("unique", "ir dedup @modules", "ir dedup @modules"),
    ];
    for (out, alone, line) in lines {
        up::well(run(server.command(&home), &format!("{alone} --quiet --out {out}")))?;
        up::well(on(server.command(&home), line, out))?;
        bytes += is_same(&home, &server, out)?;
        nothing_left(&server)?;
    }
    // A store that takes no keys any more; the parts stay, and the same command goes on.
    let port =
        server.behind(|method, path| match method == "PUT" && path.contains("part-keys") {
            true => Trouble::Busy,
            false => Trouble::None,
        })?;
    let (_, _, line) = lines[0];
    let said = up::refused(
        on(bucket::with(&home, port), line, "again"),
        &["cannot compare the rows' keys", "503", "part-keys"],
    )?;
    if !server.names("again").is_empty() || server.names("again.parts").is_empty() {
        return Err(format!("{said}, and the parts are gone"));
    }
    up::well(on(server.command(&home), line, "again"))?;
    nothing_left(&server)?;
    cluster.end()?;
    Ok(format!("{bytes} bytes equal; {said}"))
}

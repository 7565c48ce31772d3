//! What is wrong with a command, a machine or a folder: said clearly, and nothing is lost.

use crate::{
    Done,
    home::{Home, put},
    stage::{STAGES, Stage},
    up::{self, Up},
};
use std::{fs, path::Path, process::Stdio};

const PARTS: u32 = 3;

fn features() -> Result<&'static Stage, String> {
    STAGES.iter().find(|stage| stage.name == "features").ok_or_else(|| "no stage".to_owned())
}

/// There is none at the address, or something else.
pub(crate) fn no_cluster() -> Done {
    let stage = features()?;
    let home = Home::new(stage);
    let said = up::refused(
        up::on_cluster(&home, stage, "http://127.0.0.1:9", PARTS),
        &["no scheduler answers at http://127.0.0.1:9", "stampmill cluster"],
    )?;
    up::refused(
        up::on_cluster(&home, stage, "nonsense", PARTS),
        &["is no address of a scheduler"],
    )?;
    up::nothing_beside(&home)?;
    let alone = Up::start(&home, 1)?;
    // The last executor's end is the cluster's: a scheduler alone.
    let mut scheduler = up::command(&home);
    scheduler.args(["cluster", "status", "--scheduler", &alone.url]);
    up::well(scheduler)?;
    alone.end()?;
    Ok(said)
}

/// Missing, another, none in the file; off loopback without one.
pub(crate) fn token() -> Done {
    let stage = features()?;
    let home = Home::new(stage);
    put(&home, "token", "0123456789abcdef0123456789abcdef\n");
    put(&home, "other", "fedcba9876543210fedcba9876543210\n");
    put(&home, "short", "abc\n");
    let cluster = Up::start_with(&home, 1, &["--token-file", "token"], &[])?;
    let with = |file: Option<&str>| {
        let mut command = up::on_cluster(&home, stage, &cluster.url, PARTS);
        if let Some(file) = file {
            command.args(["--token-file", file]);
        }
        command
    };
    up::refused(with(None), &["refuses the token: no token", "--token-file"])?;
    let said = up::refused(with(Some("other")), &["refuses the token: another token"])?;
    up::refused(with(Some("short")), &["holds no token"])?;
    let mut executor = up::command(&home);
    executor.args(["cluster", "executor", "--scheduler", &cluster.url, "--token-file", "other"]);
    up::refused(executor, &["refuses the token"])?;
    up::well(with(Some("token")))?;
    cluster.end()?;
    let mut open = up::command(&home);
    open.args(["cluster", "scheduler", "--listen", "0.0.0.0:0"]);
    up::refused(open, &["--token-file"])?;
    Ok(said)
}

/// An executor that lacks a tool: one whose folder of helper binaries has no clang worker.
pub(crate) fn other_machine() -> Done {
    let stage = features()?;
    let home = Home::new(stage);
    let own = Path::new(crate::home::STAMPMILL).parent().ok_or("no folder")?;
    let lacking = home.path().join("lacking");
    fs::create_dir(&lacking).map_err(|error| error.to_string())?;
    for name in ["stampmill", "stampmill-cluster", "stampmill-launch"] {
        fs::copy(own.join(name), lacking.join(name)).map_err(|error| error.to_string())?;
    }
    let cluster = Up::start(&home, 1)?;
    let mut command = std::process::Command::new(lacking.join("stampmill"));
    command
        .current_dir(home.path())
        .env("STAMPMILL_CACHE", home.path().join("cache"))
        .args(["cluster", "executor", "--scheduler", &cluster.url, "--json"])
        .stdin(Stdio::null())
        .stdout(Stdio::null());
    let mut executor = command.spawn().map_err(|error| error.to_string())?;
    // It is there once the scheduler knows two.
    for _ in 0..600 {
        let mut status = up::command(&home);
        status.args(["cluster", "status", "--json", "--scheduler", &cluster.url]);
        let told: serde_json::Value =
            serde_json::from_slice(&up::well(status)?.stdout).map_err(|error| error.to_string())?;
        if told["executors"].as_array().is_some_and(|all| all.len() == 2) {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    let said = up::refused(
        up::on_cluster(&home, stage, &cluster.url, PARTS),
        &["is not like this machine", "clang: ", "none there"],
    );
    crate::home::run_by(&format!("kill -INT {}", executor.id()));
    executor.wait().map_err(|error| error.to_string())?;
    let said = said?;
    // It left: the others do the work.
    up::well(up::on_cluster(&home, stage, &cluster.url, PARTS))?;
    cluster.end()?;
    Ok(said)
}

/// Folders outside of the executors' own.
pub(crate) fn outside() -> Done {
    let stage = features()?;
    let home = Home::new(stage);
    let cluster = Up::start(&home, 1)?;
    let elsewhere = tempfile::tempdir().map_err(|error| error.to_string())?;
    fs::write(elsewhere.path().join("a.cl"), "kernel void k(global int *a) { a[0] = 1; }\n")
        .map_err(|error| error.to_string())?;
    let input = elsewhere.path().display().to_string();
    let mut reads = up::command(&home);
    reads.args(["features", &input, "--out", "made/out", "--cluster", &cluster.url]);
    let said = up::refused(reads, &["refused", "is not in", "--root"])?;
    let mut writes = up::command(&home);
    let out = elsewhere.path().join("out").display().to_string();
    writes.args(["features", "programs", "--out", &out, "--cluster", &cluster.url]);
    up::refused(writes, &["refused", "is not in", "--root"])?;
    cluster.end()?;
    Ok(said)
}

/// A stage that executors do not know, by the command line.
pub(crate) fn not_a_stage() -> Done {
    let stage = features()?;
    let home = Home::new(stage);
    let cluster = Up::start(&home, 1)?;
    let mut command = up::command(&home);
    command.args(["mine", "programs", "--out", "made/out", "--cluster", &cluster.url]);
    let said = up::refused(command, &["`mine` does not run on a cluster", "--part I/N"])?;
    cluster.end()?;
    Ok(said)
}

/// What a killed executor left of a part is not taken for one.
pub(crate) fn half_written() -> Done {
    let stage = features()?;
    let home = Home::new(stage);
    home.run_well(stage)?;
    let alone = home.path().join("alone");
    fs::rename(home.path().join("made/out"), &alone).map_err(|error| error.to_string())?;
    let cluster = Up::start(&home, 1)?;
    // A first run that is stopped leaves parts; one of them is cut off.
    let mut client = up::on_cluster(&home, stage, &cluster.url, PARTS);
    let mut client = client.stdout(Stdio::null()).spawn().map_err(|error| error.to_string())?;
    let parts = home.path().join("made/out.parts");
    let whole = || {
        let names = fs::read_dir(&parts).into_iter().flatten().flatten();
        let parts = names.filter(|entry| !entry.file_name().to_string_lossy().contains(".try-"));
        parts.map(|entry| entry.path().join("_dataset.json")).find(|file| file.is_file())
    };
    let mut manifest = whole();
    while manifest.is_none() && client.try_wait().map_err(|error| error.to_string())?.is_none() {
        std::thread::sleep(std::time::Duration::from_millis(5));
        manifest = whole();
    }
    crate::home::run_by(&format!("kill -INT {}", client.id()));
    let status = client.wait().map_err(|error| error.to_string())?;
    let (Some(manifest), Some(130)) = (manifest, status.code()) else {
        return Err(format!("no part was there when it was stopped, or it ended with {status}"));
    };
    let text = fs::read(&manifest).map_err(|error| error.to_string())?;
    fs::write(&manifest, &text[..text.len() / 2]).map_err(|error| error.to_string())?;
    up::well(up::on_cluster(&home, stage, &cluster.url, PARTS))?;
    up::equal(&alone, &home.path().join("made/out"))?;
    up::nothing_beside(&home)?;
    cluster.end()?;
    Ok("stopped, a part cut off, run again: the same bytes".to_owned())
}

/// Two commands with one --out: one of them says so.
pub(crate) fn two_clients() -> Done {
    let stage = features()?;
    let home = Home::new(stage);
    let cluster = Up::start(&home, 1)?;
    let mut first = up::on_cluster(&home, stage, &cluster.url, PARTS);
    let mut first = first.stdout(Stdio::null()).spawn().map_err(|error| error.to_string())?;
    // Written once it has the lock.
    let marker = home.path().join("made/out.parts/.stampmill-partial");
    while !marker.is_file() && first.try_wait().map_err(|error| error.to_string())?.is_none() {
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    // The executor's machine is slow to stop, and the second waits for a while: the first is held back.
    crate::home::run_by(&format!("kill -STOP {}", first.id()));
    let said =
        up::refused(up::on_cluster(&home, stage, &cluster.url, PARTS), &["another run is writing"]);
    crate::home::run_by(&format!("kill -CONT {}", first.id()));
    let status = first.wait().map_err(|error| error.to_string())?;
    let said = said?;
    if !status.success() {
        return Err(format!("the first ended with {status}"));
    }
    cluster.end()?;
    Ok(said)
}

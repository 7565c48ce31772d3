//! Data sets in an object store: the same as in a folder, alone and on a cluster without a common folder; and what goes
//! wrong there is said clearly, and nothing is lost.

use crate::{
    Done,
    bucket::{self, BUCKET, SECRET, Server, Trouble},
    home::{Home, run_by},
    same,
    stage::{STAGES, Stage},
    up::{self, Up},
};
use std::{
    fs,
    path::PathBuf,
    process::{Command, Stdio},
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

const PARTS: u32 = 4;

pub(crate) fn stage(name: &str) -> Result<&'static Stage, String> {
    STAGES.iter().find(|stage| stage.name == name).ok_or_else(|| "no stage".to_owned())
}

pub(crate) fn url(key: &str) -> String {
    format!("s3://{BUCKET}/{key}")
}

/// A command of the words in `line`, where `@` stands for the bucket.
pub(crate) fn run(mut command: Command, line: &str) -> Command {
    command.args(line.split_whitespace().map(|word| word.replace('@', &url(""))));
    command
}

pub(crate) fn failed(error: std::io::Error) -> String {
    error.to_string()
}

/// The data set at a key as somebody finds it who has nothing of it, in `made/NAME`.
fn brought(home: &Home, server: &Server, key: &str, name: &str) -> Result<(), String> {
    let cache = home.path().join("scratch/elsewhere");
    if cache.exists() {
        fs::remove_dir_all(&cache).map_err(failed)?;
    }
    let mut show = run(server.command(home), &format!("show @{key} --json"));
    show.env("STAMPMILL_CACHE", &cache);
    up::well(show)?;
    let sets = fs::read_dir(cache.join("objects/sets")).map_err(failed)?;
    let sets: Vec<PathBuf> = sets.flatten().map(|entry| entry.path()).collect();
    let [set] = sets.as_slice() else { return Err(format!("{sets:?} instead of one data set")) };
    let last = key.rsplit('/').next().unwrap_or_default();
    let to = home.path().join(name);
    if to.exists() {
        fs::remove_dir_all(&to).map_err(failed)?;
    }
    let copied = Command::new("cp").arg("-r").args([&set.join(last), &to]).status();
    copied.map_err(failed)?;
    // What was named by a URL here was named by a path there.
    let file = to.join("_dataset.json");
    let text = fs::read_to_string(&file).map_err(failed)?.replace(&url(""), "");
    fs::write(&file, text).map_err(failed)
}

/// Whether a data set is the same in the store as in a folder of that name.
pub(crate) fn is_same(home: &Home, server: &Server, key: &str) -> Result<usize, String> {
    let name = format!("made/{key}.brought");
    brought(home, server, key, &name)?;
    up::equal(&home.path().join(key), &home.path().join(name))
}

/// From content files to an answer, by folders and by URLs.
pub(crate) fn alone() -> Done {
    let home = Home::new(stage("prepare")?);
    let server = Server::start(&home)?;
    let mut bytes = 0;
    for (name, line) in [
        ("raw", "mine programs --quiet --out"),
        ("kernels", "prepare @raw --quiet --out"),
        ("vectors", "features @kernels --space grewe,instcount --quiet --out"),
        ("part-1", "features @kernels --space grewe,instcount --quiet --part 1/2 --out"),
        ("part-2", "features @kernels --space grewe,instcount --quiet --part 2/2 --out"),
        ("merged", "merge @part-2 @part-1 --quiet --out"),
    ] {
        up::well(run(up::command(&home), &format!("{} {name}", line.replace('@', ""))))?;
        up::well(run(server.command(&home), &format!("{line} @{name}")))?;
        bytes += is_same(&home, &server, name)?;
        let again = run(server.command(&home), &format!("{line} @{name}"));
        up::refused(again, &["exists already", "--force", &url(name)])?;
    }
    let answer = |command, from: &str| -> Result<String, String> {
        let mut command: Command = command;
        let sql = "SELECT verdict, count(*) AS n FROM d GROUP BY verdict ORDER BY verdict";
        command.args(["query", sql, &format!("d={from}kernels"), "--format", "jsonl"]);
        Ok(String::from_utf8_lossy(&up::well(command)?.stdout).into_owned())
    };
    let (one, other) = (answer(up::command(&home), "")?, answer(server.command(&home), &url(""))?);
    if one != other || one.is_empty() {
        return Err(format!("by folder {one:?}, by URL {other:?}"));
    }
    let mut save = server.command(&home);
    save.args([
        "query",
        "SELECT * FROM d",
        &format!("d={}", url("kernels")),
        "--out",
        &url("again"),
    ]);
    up::well(save)?;
    let shown = up::well(run(server.command(&home), "show @again"))?;
    let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
    if !shown.contains("kernel") {
        return Err(format!("show says {shown}"));
    }
    up::well(run(server.command(&home), "fsck @kernels"))?;
    // A data set that is replaced leaves nothing of the old one behind.
    up::well(run(
        server.command(&home),
        "features @kernels --space grewe --quiet --force --out @vectors",
    ))?;
    // Its part, its manifest, and what describes it to others.
    match server.names("vectors").as_slice() {
        [_, _, _, _] => Ok(format!("{bytes} bytes equal")),
        names => Err(format!("{names:?} of a data set of one part")),
    }
}

/// A stage on a cluster whose machines have the store alone in common; what is no data set of its input is in a folder.
pub(crate) fn cluster(stage: &Stage) -> Done {
    let home = Home::new(stage);
    home.run_well(stage)?;
    fs::rename(home.path().join("made/out"), home.path().join("alone")).map_err(failed)?;
    let server = Server::start(&home)?;
    let cluster = up_with(&home, &server, 2)?;
    let line = stage.command.replace("made/out", "@out");
    let parts = format!(" --cluster {} --cluster-parts {PARTS}", cluster.url);
    up::well(run(server.command(&home), &(line + &parts)))?;
    cluster.end()?;
    nothing_left(&server)?;
    brought(&home, &server, "out", "made/out")?;
    same::compare(&home, stage)
}

pub(crate) fn up_with(home: &Home, server: &Server, executors: usize) -> Result<Up, String> {
    let variables = server.variables();
    let variables: Vec<(&str, &std::path::Path)> = variables
        .iter()
        .map(|(name, value)| (*name, std::path::Path::new(value.as_str())))
        .collect();
    let root = url("");
    Up::start_with(home, executors, &["--root", &root], &variables)
}

pub(crate) fn nothing_left(server: &Server) -> Result<(), String> {
    let names = server.names("");
    match names.iter().filter(|name| name.contains(".parts")).count() {
        0 => Ok(()),
        _ => Err(format!("left over: {names:?}")),
    }
}

/// Inputs by URL too, executors that see no folder of the client; one of them is killed on the way.
pub(crate) fn no_common_folder() -> Done {
    let home = Home::new(stage("prepare")?);
    let server = Server::start(&home)?;
    for line in [
        "mine programs --quiet --out raw",
        "prepare raw --quiet --out kernels",
        "features kernels --quiet --out vectors",
    ] {
        up::well(run(up::command(&home), line))?;
    }
    up::well(run(server.command(&home), "mine programs --quiet --out @raw"))?;
    // The executors' machine: another folder, another cache.
    let there = Home::new(stage("steer")?);
    let cluster = up_with(&there, &server, 3)?;
    let on = format!("--quiet --cluster {} --cluster-parts 6", cluster.url);
    up::well(run(server.command(&home), &format!("prepare @raw {on} --out @kernels")))?;
    let mut bytes = is_same(&home, &server, "kernels")?;
    let mut client = run(server.command(&home), &format!("features @kernels {on} --out @vectors"));
    let mut client = client.stderr(Stdio::piped()).spawn().map_err(failed)?;
    // Some of a part may be in the store, and its manifest not.
    while server.names("vectors.parts").is_empty() && client.try_wait().map_err(failed)?.is_none() {
        std::thread::sleep(Duration::from_millis(10));
    }
    run_by(&format!("kill -KILL {}", cluster.executors[0]));
    let output = client.wait_with_output().map_err(failed)?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    bytes += is_same(&home, &server, "vectors")?;
    nothing_left(&server)?;
    // Nothing but what is below of its root.
    fs::create_dir(server.file("../outside")).map_err(failed)?;
    up::well(run(server.command(&home), "mine programs --quiet --out s3://outside/raw"))?;
    let programs = home.path().join("programs").display().to_string();
    for line in [
        "features s3://outside/raw --out @more",
        "features @raw --out s3://outside/more",
        &format!("features {programs} --out @more"),
    ] {
        up::refused(run(server.command(&home), &format!("{line} {on}")), &["refused", "(--root)"])?;
    }
    cluster.end()?;
    Ok(format!("{bytes} bytes equal"))
}

/// SQL over URLs, answered by executors that see no folder of the client and bring no data set to theirs.
pub(crate) fn query() -> Done {
    let home = Home::new(stage("features")?);
    let server = Server::start(&home)?;
    for line in ["mine programs --quiet --out", "features @raw --space grewe --quiet --out"] {
        let name = if line.starts_with("mine") { "raw" } else { "vectors" };
        up::well(run(up::command(&home), &format!("{} {name}", line.replace('@', ""))))?;
        up::well(run(server.command(&home), &format!("{line} @{name}")))?;
    }
    let there = Home::new(stage("steer")?);
    let cluster = up_with(&there, &server, 2)?;
    let ask = |command: Command, sql: &str, from: &str, words: &[&str]| -> Command {
        let mut command = command;
        command.args(["query", sql, &format!("r={from}raw"), &format!("v={from}vectors")]);
        command.args(["--format", "jsonl"]).args(words);
        command
    };
    let on_cluster = ["--cluster", cluster.url.as_str()];
    let mut lines = 0;
    for sql in [
        "SELECT verdict, count(*) AS n FROM v GROUP BY verdict ORDER BY verdict",
        "SELECT r.path, r.kernels, count(*) AS n FROM r JOIN v ON r.path = v.path GROUP BY r.path, r.kernels ORDER BY r.path",
        "SELECT max(length(text)) AS longest FROM r WHERE verdict = 'accepted'",
        "SELECT path FROM r WHERE path = 'no such path'",
        "SELECT count(*) AS n FROM (SELECT path FROM r UNION ALL SELECT path FROM v)",
    ] {
        let alone = up::well(ask(up::command(&home), sql, "", &[]))?.stdout;
        let there = up::well(ask(server.command(&home), sql, &url(""), &on_cluster))?.stdout;
        let (alone, there) = (String::from_utf8_lossy(&alone), String::from_utf8_lossy(&there));
        if alone != there {
            return Err(format!("{sql}: alone {alone:?}, on a cluster {there:?}"));
        }
        lines += alone.lines().count();
    }
    let kept =
        run_by(&format!("find {} -path '*/objects/files/*' -type f", there.path().display()));
    if !kept.is_empty() {
        return Err(format!("executors brought whole files to their machine: {kept}"));
    }
    // Nothing but what is below of their root, and nothing that is no data set.
    fs::create_dir(server.file("../outside")).map_err(failed)?;
    up::well(run(server.command(&home), "mine programs --quiet --out s3://outside/raw"))?;
    let other = |table: &str, words: &[&str]| {
        let mut command = server.command(&home);
        command.args(["query", "SELECT max(path) FROM dataset WHERE path <> ''", table]);
        up::refused(command_with(command, &on_cluster), words)
    };
    other(
        "s3://outside/raw",
        &["refused", "s3://outside/raw/part-", "the executor's only folder"],
    )?;
    other(&url("raw/none"), &["there is no data set at", &url("raw/none")])?;
    other(&url(""), &["there is no data set at"])?;
    other("s3://nowhere/raw", &["there is no bucket `nowhere`"])?;
    let names = server.names("vectors");
    let part = names.iter().find(|name| name.ends_with(".parquet")).ok_or("no part")?;
    fs::remove_file(server.file(part)).map_err(failed)?;
    let said = other(&url("vectors"), &["is gone", &url("vectors")])?;
    cluster.end()?;
    Ok(format!("{lines} lines equal; {said}"))
}

fn command_with(mut command: Command, words: &[&str]) -> Command {
    command.args(words);
    command
}

/// A store that is busy, slow, cut off or gone.
pub(crate) fn troubles() -> Done {
    let home = Home::new(stage("features")?);
    let server = Server::start(&home)?;
    up::well(run(up::command(&home), "mine programs --quiet --out raw"))?;
    up::well(run(server.command(&home), "mine programs --quiet --out @raw"))?;
    let features = "features @raw --space grewe --quiet --out @out";
    let fresh = || -> Result<(), String> { home.reset().map_err(failed) };

    // What lasts a while is waited for.
    for (name, trouble) in [
        ("busy", Trouble::Busy),
        ("half", Trouble::Half),
        ("slow", Trouble::Slow(Duration::from_secs(3))),
    ] {
        fresh()?;
        let left = AtomicUsize::new(2);
        let port = server.behind(move |_, path| {
            let is_it = path.contains(".parquet")
                && left
                    .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |n| n.checked_sub(1))
                    .is_ok();
            if is_it { trouble } else { Trouble::None }
        })?;
        let mut command = run(
            bucket::with(&home, port),
            &format!("features @raw --space grewe --quiet --out @{name}"),
        );
        command.env("AWS_TIMEOUT", "1s");
        up::well(command).map_err(|error| format!("{name}: {error}"))?;
    }

    // What lasts is an error; what was made is kept, and put there by the same command.
    fresh()?;
    let port = server.behind(|method, path| match method == "PUT" && path.contains("/out/") {
        true => Trouble::Busy,
        false => Trouble::None,
    })?;
    let said = up::refused(
        run(bucket::with(&home, port), features),
        &["cannot write", "503", "(SlowDown)", "it was tried 3 times"],
    )?;
    if !server.names("out").is_empty() {
        return Err("a part of it is there".to_owned());
    }
    up::refused(
        run(server.command(&home), "show @out"),
        &["there is no data set at", &url("out")],
    )?;
    up::well(run(server.command(&home), features))?;
    up::well(run(up::command(&home), "features raw --space grewe --quiet --out out"))?;
    is_same(&home, &server, "out")?;

    fresh()?;
    let port = server.behind(|_, _| Trouble::Slow(Duration::from_secs(3)))?;
    let mut slow = run(bucket::with(&home, port), "show @raw");
    slow.env("AWS_TIMEOUT", "1s").env("AWS_MAX_ATTEMPTS", "2");
    up::refused(slow, &["cannot read", &url("raw"), "it was tried 2 times"])?;
    let gone = run(bucket::with(&home, 9), "show @raw");
    up::refused(gone, &["cannot read", &url("raw"), "127.0.0.1:9"])?;
    Ok(said)
}

/// Who asks is nobody, or somebody else; what is asked for is nowhere.
pub(crate) fn strangers() -> Done {
    let home = Home::new(stage("features")?);
    let server = Server::start(&home)?;
    let show = || run(server.command(&home), "show @raw");
    let mut nobody = show();
    nobody.env_remove("AWS_ACCESS_KEY_ID").env_remove("AWS_SECRET_ACCESS_KEY");
    up::refused(nobody, &["there are no credentials", "AWS_ACCESS_KEY_ID"])?;
    let mut half = show();
    half.env_remove("AWS_SECRET_ACCESS_KEY");
    up::refused(half, &["AWS_SECRET_ACCESS_KEY is not"])?;
    let mut other = show();
    let wrong = "wrongwrongwrongwrong";
    other.env("AWS_SECRET_ACCESS_KEY", wrong);
    let said = up::refused(other, &["refuses the credentials", "AWS_SECRET_ACCESS_KEY"])?;
    up::refused(show(), &["there is no data set at", &url("raw")])?;
    up::refused(
        run(server.command(&home), "show s3://other/raw"),
        &["there is no bucket `other`", "127.0.0.1"],
    )?;
    up::refused(
        run(server.command(&home), "features programs --quiet --out s3://other/out"),
        &["there is no bucket `other`"],
    )?;
    let named = format!("show s3://key:{SECRET}@programs/raw");
    let mut command = server.command(&home);
    command.args(named.split(' '));
    let refused = up::refused(command, &["AWS_SECRET_ACCESS_KEY"])?;
    // Neither is told, nor kept.
    up::well(run(server.command(&home), "features programs --space grewe -vv --out @out"))?;
    let kept = run_by(&format!("grep -rlE '{SECRET}|AKIDtrial' {} ", home.path().display()));
    match [said.as_str(), refused.as_str()]
        .iter()
        .any(|text| text.contains(SECRET) || text.contains(wrong))
        || !kept.is_empty()
    {
        true => Err(format!("a secret is told: {said} {refused} {kept}")),
        false => Ok(said),
    }
}

/// Objects that are not what the manifest says.
pub(crate) fn damaged() -> Done {
    let home = Home::new(stage("features")?);
    let server = Server::start(&home)?;
    up::well(run(server.command(&home), "features programs --space grewe --quiet --out @out"))?;
    let names = server.names("out");
    let part = names.iter().find(|name| name.ends_with(".parquet")).ok_or("no part")?;
    let file = server.file(part);
    let whole = fs::read(&file).map_err(failed)?;
    let show = || -> Result<Command, String> {
        home.reset().map_err(failed)?;
        Ok(run(server.command(&home), "show @out"))
    };
    fs::write(&file, &whole[..whole.len() / 2]).map_err(failed)?;
    let said = up::refused(show()?, &[part, "is damaged", "bytes, not"])?;
    let mut other = whole.clone();
    other[whole.len() / 2] ^= 1;
    fs::write(&file, &other).map_err(failed)?;
    up::refused(show()?, &[part, "is damaged", "hash"])?;
    fs::remove_file(&file).map_err(failed)?;
    up::refused(show()?, &[&url("out"), "is gone"])?;
    // Copied by another program, it has the name that it has in a folder.
    fs::write(server.file("out/part-00000.parquet"), &whole).map_err(failed)?;
    up::well(show()?)?;
    fs::write(server.file("out/_dataset.json"), "{").map_err(failed)?;
    up::refused(show()?, &["_dataset.json", "is damaged"])?;
    let refused = run(server.command(&home), "features programs --space grewe --quiet --out @out");
    up::refused(refused, &["exists already"])?;
    Ok(said)
}

/// Two make a data set at one place: the first to put its manifest wins, and the other is told.
pub(crate) fn two_at_once() -> Done {
    let home = Home::new(stage("features")?);
    let server = Server::start(&home)?;
    // The other, with all that it has.
    let other = Home::new(stage("features")?);
    let overtake = |words: &str| {
        let mut command = run(server.command(&other), words);
        command.stdout(Stdio::null());
        command
    };
    let first =
        std::sync::Mutex::new(Some(overtake("features programs --space grewe --quiet --out @out")));
    let port = server.behind(move |method, path| {
        if method == "PUT"
            && path.contains("/out/_dataset.json")
            && let Some(mut command) = first.lock().ok().and_then(|mut first| first.take())
        {
            // It ends well, or the trial does not.
            let _ = command.status();
        }
        Trouble::None
    })?;
    let features = "features programs --space instcount --quiet --out @out";
    let said = up::refused(
        run(bucket::with(&home, port), features),
        &["by another run meanwhile", "--force", "is kept in"],
    )?;
    up::well(run(up::command(&other), "features programs --space grewe --quiet --out out"))?;
    is_same(&other, &server, "out")?;
    up::well(run(server.command(&home), &format!("{features} --force")))?;
    up::well(run(up::command(&home), "features programs --space instcount --quiet --out out"))?;
    is_same(&home, &server, "out")?;

    // One that is replaced while it is read is read anew.
    home.reset().map_err(failed)?;
    let first = std::sync::Mutex::new(Some(overtake(
        "features programs --space grewe --quiet --force --out @out",
    )));
    let port = server.behind(move |_, path| {
        if path.contains(".parquet")
            && let Some(mut command) = first.lock().ok().and_then(|mut first| first.take())
        {
            let _ = command.status();
        }
        Trouble::None
    })?;
    let mut query = bucket::with(&home, port);
    query.args([
        "query",
        "SELECT * FROM d LIMIT 1",
        &format!("d={}", url("out")),
        "--format",
        "jsonl",
    ]);
    let row = String::from_utf8_lossy(&up::well(query)?.stdout).into_owned();
    match row.contains("grewe") && !row.contains("instcount") {
        true => Ok(said),
        false => Err(format!("a reader found {row}")),
    }
}

//! What dies while a cluster works: the data set is the same, and nothing of it is left.

use crate::{
    Done,
    home::{Home, STAMPMILL, put, run_by},
    objects::stage,
    same,
    stage::Stage,
    up::{self, Up},
};
use rand::{Rng, SeedableRng, rngs::StdRng};
use std::{
    fs,
    io::{BufRead, BufReader},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

/// Kills unless `STAMPMILL_KILLS` says otherwise.
const KILLS: u64 = 2;
const PARTS: u32 = 12;
/// Stages that compare all rows in the end, which their executors do if they are told so.
const COMPARED: [&str; 2] = ["prepare", "ir-dedup"];

fn setting(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

/// A stage's command, whose executors do all that they can be asked for.
fn on_cluster(home: &Home, stage: &Stage, cluster: &Up) -> Command {
    let mut command = up::on_cluster(home, stage, &cluster.url, PARTS);
    if COMPARED.contains(&stage.name) {
        command.args(["--cluster-keys", "0"]);
    }
    command
}

struct Round {
    home: Home,
    /// How long an undisturbed run on a cluster takes.
    took: Duration,
}

impl Round {
    fn new(stage: &Stage) -> Result<Round, String> {
        let home = Home::new(stage);
        home.run_well(stage)?;
        fs::rename(home.path().join("made/out"), home.path().join("alone"))
            .map_err(|error| error.to_string())?;
        home.reset().map_err(|error| error.to_string())?;
        let cluster = Up::start(&home, 3)?;
        let begun = Instant::now();
        up::well(on_cluster(&home, stage, &cluster))?;
        let round = Round { took: begun.elapsed(), home };
        round.is_same(stage)?;
        cluster.end()?;
        round.home.reset().map_err(|error| error.to_string())?;
        Ok(round)
    }

    fn is_same(&self, stage: &Stage) -> Result<(), String> {
        same::compare(&self.home, stage)?;
        self.home.must("fsck made/out");
        up::nothing_beside(&self.home)
    }

    /// Run the stage on three executors and do `harm` at a drawn moment of it.
    fn run(
        &self,
        stage: &Stage,
        moment: f64,
        harm: impl FnOnce(&Up) -> Result<(), String>,
    ) -> Result<String, String> {
        let cluster = Up::start(&self.home, 3)?;
        let mut command = on_cluster(&self.home, stage, &cluster);
        command.arg("-v").stdout(Stdio::null()).stderr(Stdio::piped());
        let client = command.spawn().map_err(|error| error.to_string())?;
        std::thread::sleep(self.took.mul_f64(moment));
        harm(&cluster)?;
        let output = client.wait_with_output().map_err(|error| error.to_string())?;
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        if !output.status.success() {
            return Err(format!("the command ended with {}: {said}", output.status));
        }
        self.is_same(stage)?;
        cluster.end()?;
        self.home.reset().map_err(|error| error.to_string())?;
        Ok(said)
    }
}

fn signal(pid: u32, signal: &str) {
    run_by(&format!("kill -{signal} {pid}"));
}

/// Executors are killed, one in each run.
pub(crate) fn killed(stage: &Stage) -> Done {
    let round = Round::new(stage)?;
    let kills = setting("STAMPMILL_KILLS", KILLS);
    let mut random = StdRng::seed_from_u64(setting("STAMPMILL_SEED", 0));
    let (mut noticed, mut repeated) = (0, 0);
    for kill in 0..kills {
        let (moment, victim) = (random.random_range(0.1..0.9), random.random_range(0..3));
        let said = round.run(stage, moment, |cluster| {
            signal(cluster.executors[victim], "KILL");
            Ok(())
        });
        let said = said.map_err(|why| format!("kill {kill}, of {victim} at {moment:.3}: {why}"))?;
        noticed += u32::from(said.contains(" lost"));
        repeated += u32::from(
            said.lines().any(|line| line.contains(" lost") && !line.contains(" 0 tasks repeated")),
        );
    }
    Ok(format!(
        "{kills} executors killed, {noticed} noticed, in {repeated} runs tasks were repeated, the same bytes each time"
    ))
}

/// An executor is stopped for longer than the scheduler waits, and goes on.
pub(crate) fn stopped(stage: &Stage) -> Done {
    let round = Round::new(stage)?;
    let pause = Duration::from_secs(setting("STAMPMILL_PAUSE", 15));
    round.run(stage, 0.4, |cluster| {
        let pid = cluster.executors[1];
        signal(pid, "STOP");
        std::thread::sleep(pause);
        signal(pid, "CONT");
        Ok(())
    })?;
    Ok(format!("an executor stopped for {pause:?}, the same bytes"))
}

/// The scheduler is killed: the command says so and fails; what is made is kept, and the same command does the rest.
pub(crate) fn no_scheduler(stage: &Stage) -> Done {
    let round = Round::new(stage)?;
    let first = Up::start(&round.home, 2)?;
    let mut command = up::on_cluster(&round.home, stage, &first.url, PARTS);
    command.stdout(Stdio::null()).stderr(Stdio::piped());
    let client = command.spawn().map_err(|error| error.to_string())?;
    std::thread::sleep(round.took.mul_f64(0.5));
    signal(first.scheduler, "KILL");
    let output = client.wait_with_output().map_err(|error| error.to_string())?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    drop(first);
    if output.status.code() != Some(2) || !said.contains("the same command does the rest") {
        return Err(format!("{}: {said}", output.status));
    }
    let second = Up::start(&round.home, 2)?;
    up::well(up::on_cluster(&round.home, stage, &second.url, PARTS))?;
    round.is_same(stage)?;
    second.end()?;
    Ok(said.trim().chars().take(160).collect())
}

/// An executor has no room: its tasks are done by others.
pub(crate) fn full_disk(stage: &Stage) -> Done {
    let round = Round::new(stage)?;
    let full = round.home.path().join("full");
    fs::create_dir(&full).map_err(|error| error.to_string())?;
    let shown = full.display();
    run_by(&format!("mount -t tmpfs -o size=2m tmpfs {shown}"));
    let said = round.run(stage, 0.0, |cluster| {
        // The other three are stopped until it has tried, so that it does.
        for pid in &cluster.executors {
            signal(*pid, "STOP");
        }
        let mut executor = up::command(&round.home);
        executor.env("TMPDIR", &full).stdout(Stdio::piped());
        executor.args([
            "cluster",
            "executor",
            "--json",
            "--jobs",
            "1",
            "--scheduler",
            &cluster.url,
        ]);
        let mut executor = executor.spawn().map_err(|error| error.to_string())?;
        let mut line = String::new();
        let out = executor.stdout.take().ok_or("no standard output")?;
        BufReader::new(out).read_line(&mut line).map_err(|error| error.to_string())?;
        run_by(&format!("dd if=/dev/zero of={shown}/fill bs=4k 2>&1"));
        let (begun, mut tried) = (Instant::now(), false);
        while !tried && begun.elapsed() < Duration::from_secs(60) {
            let mut status = up::command(&round.home);
            status.args(["cluster", "status", "--json", "--scheduler", &cluster.url]);
            let told: serde_json::Value = serde_json::from_slice(&up::well(status)?.stdout)
                .map_err(|error| error.to_string())?;
            let count = |one: &serde_json::Value, key: &str| one[key].as_u64().unwrap_or_default();
            let all = told["executors"].as_array().cloned().unwrap_or_default();
            tried = all.iter().any(|one| count(one, "done") + count(one, "faults") > 0);
            std::thread::sleep(Duration::from_millis(100));
        }
        for pid in &cluster.executors {
            signal(*pid, "CONT");
        }
        std::thread::sleep(round.took);
        run_by(&format!("kill -INT {}", executor.id()));
        executor.wait().map(drop).map_err(|error| error.to_string())
    });
    run_by(&format!("umount {shown}"));
    let said = said?;
    // Its scratch is where tasks say what they made: the part is there, and the task failed nevertheless.
    match said.contains("No space left on device") || said.contains("tasks repeated") {
        true => Ok("an executor without room, the same bytes".to_owned()),
        false => Err(format!("the executor without room did nothing: {said}")),
    }
}

/// An executor's network is cut while it works, and comes back: in a network of the trial's own.
pub(crate) fn cut(stage: &Stage) -> Done {
    const HERE: &str = "10.211.0.1";
    const THERE: &str = "10.211.0.2";
    let round = Round::new(stage)?;
    put(&round.home, "token", "0123456789abcdef0123456789abcdef\n");
    let made = run_by(&format!(
        "{{ ip link add v0 type veth peer name v1 && ip addr add {HERE}/24 dev v0 && ip link set v0 up; }} 2>&1"
    ));
    if !made.is_empty() {
        return Err(format!("no network: {made}"));
    }
    let words = ["--token-file", "token", "--listen", "10.211.0.1:0"];
    let cluster = Up::start_with(&round.home, 1, &words, &[])?;
    let script = format!(
        "until ip addr add {THERE}/24 dev v1 2>/dev/null; do sleep 0.05; done; ip link set lo up; ip link set v1 up; \
         exec {STAMPMILL} cluster executor --json --jobs 1 --scheduler {} --token-file token --host {THERE}",
        cluster.url
    );
    let mut executor = Command::new("unshare");
    let mut executor = executor
        .args(["--net", "--", "sh", "-c", &script])
        .current_dir(round.home.path())
        .env("STAMPMILL_CACHE", round.home.path().join("cache"))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| error.to_string())?;
    // Its network is its own once `unshare` has become the shell.
    std::thread::sleep(Duration::from_millis(500));
    run_by(&format!("ip link set v1 netns {}", executor.id()));
    let mut line = String::new();
    let out = executor.stdout.take().ok_or("no standard output")?;
    BufReader::new(out).read_line(&mut line).map_err(|error| error.to_string())?;
    let mut client = up::on_cluster(&round.home, stage, &cluster.url, PARTS);
    client.args(["--token-file", "token", "-v"]).stdout(Stdio::null()).stderr(Stdio::piped());
    let client = client.spawn().map_err(|error| error.to_string())?;
    std::thread::sleep(round.took.mul_f64(0.6));
    run_by("ip link set v0 down");
    let output = client.wait_with_output().map_err(|error| error.to_string())?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    run_by("ip link set v0 up");
    if !output.status.success() {
        return Err(format!("the command ended with {}: {said}", output.status));
    }
    round.is_same(stage)?;
    // It is back, and counts again.
    let begun = Instant::now();
    let mut back = false;
    while !back && begun.elapsed() < Duration::from_secs(60) {
        let mut status = up::command(&round.home);
        status.args([
            "cluster",
            "status",
            "--json",
            "--token-file",
            "token",
            "--scheduler",
            &cluster.url,
        ]);
        let told = String::from_utf8_lossy(&up::well(status)?.stdout).into_owned();
        back = told.matches("\"state\":\"active\"").count() == 2;
        std::thread::sleep(Duration::from_millis(200));
    }
    run_by(&format!("kill -INT {}", executor.id()));
    executor.wait().map_err(|error| error.to_string())?;
    cluster.end()?;
    let lost = said.lines().any(|line| line.contains("1 lost"));
    match back {
        true => Ok(format!("an executor cut off, noticed: {lost}; the same bytes; it came back")),
        false => Err("the executor did not come back".to_owned()),
    }
}

/// All executors of `cluster up` are killed: it says so and ends, and the next one finds nothing of them.
pub(crate) fn no_executor_left() -> Done {
    let home = Home::new(stage("features")?);
    let mut up = up::command(&home);
    up.args(["cluster", "up", "--json", "--root", ".", "--listen", "127.0.0.1:0", "--jobs", "1"]);
    let mut up = up
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| error.to_string())?;
    let mut line = String::new();
    let out = up.stdout.take().ok_or("no standard output")?;
    BufReader::new(out).read_line(&mut line).map_err(|error| error.to_string())?;
    let told: serde_json::Value =
        serde_json::from_str(&line).map_err(|error| format!("{line:?}: {error}"))?;
    let executors = told["executors"].as_array().ok_or("no executors")?;
    for executor in executors {
        run_by(&format!("kill -KILL {}", executor["pid"]));
    }
    let output = up.wait_with_output().map_err(|error| error.to_string())?;
    let said = String::from_utf8_lossy(&output.stderr);
    let ended = said.lines().filter(|line| line.contains("signal: 9")).count();
    if output.status.code() != Some(2) || ended != 2 || !said.contains("all executors have ended") {
        return Err(format!("`up` ended with {}: {said}", output.status));
    }
    let folders = format!("ls -d {}/scratch/stampmill-executor-*", home.path().display());
    let left = || run_by(&folders).lines().count();
    let before = left();
    let cluster = Up::start(&home, 1)?;
    let after = left();
    cluster.end()?;
    match (before, after) {
        (2, 1) => {
            Ok("`up` said which ended and ended; their folders went with the next".to_owned())
        }
        _ => Err(format!("{before} folders of killed executors, {after} with the next")),
    }
}

/// Executors are killed while a query is answered: its rows are right, or the command says why there are none.
pub(crate) fn query_killed() -> Done {
    let stage = stage("features")?;
    let home = Home::new(stage);
    home.run_well(stage)?;
    // Many more rows than there are in the data set, in steps of which each takes what the one before made.
    let sql = "SELECT count(*) AS n, sum(same) AS s FROM (SELECT a.id, b.path, count(*) AS same FROM d a \
               CROSS JOIN d b CROSS JOIN d c GROUP BY a.id, b.path)";
    let ask = |words: &[&str]| {
        let mut command = up::command(&home);
        command.args(["query", sql, "d=made/out", "--format", "jsonl"]).args(words);
        command
    };
    let alone = up::well(ask(&[]))?.stdout;
    let cluster = Up::start(&home, 3)?;
    let begun = Instant::now();
    up::well(ask(&["--cluster", &cluster.url]))?;
    let took = begun.elapsed();
    cluster.end()?;
    let mut random = StdRng::seed_from_u64(setting("STAMPMILL_SEED", 0));
    let (kills, mut cut_off) = (setting("STAMPMILL_KILLS", KILLS), 0);
    for kill in 0..kills {
        let (moment, victim) = (random.random_range(0.1..0.9), random.random_range(0..3));
        let cluster = Up::start(&home, 3)?;
        let words = ["--cluster", cluster.url.as_str()];
        let client = ask(&words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let client = client.map_err(|error| error.to_string())?;
        std::thread::sleep(took.mul_f64(moment));
        signal(cluster.executors[victim], "KILL");
        let mut output = client.wait_with_output().map_err(|error| error.to_string())?;
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        if output.status.code() == Some(2) && said.contains("an executor was lost with rows") {
            cut_off += 1;
            output = up::well(ask(&words))?;
        }
        if output.stdout != alone {
            let rows = String::from_utf8_lossy(&output.stdout).into_owned();
            return Err(format!("kill {kill}, of {victim} at {moment:.3}: {rows} {said}"));
        }
        cluster.end()?;
    }
    Ok(format!("{kills} executors killed, the same rows each time, {cut_off} after asking again"))
}

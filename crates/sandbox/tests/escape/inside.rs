//! One trial, in namespaces of its own.

use crate::world::{World, others};
use stampmill_sandbox::{Death, Finished, Memory, Profile, Program, Series, run};
use std::{
    path::Path,
    process::{Command, ExitCode, Stdio},
    time::{Duration, Instant},
};

const MIB: u64 = 1 << 20;
/// For what ends by itself: never a verdict, on a busy machine either.
const LONG: Duration = Duration::from_secs(60);
/// For what does not.
const SHORT: Duration = Duration::from_millis(1500);
/// The kernel takes a moment to end what is in a namespace, and longer where it has other things to do.
const GRACE: Duration = Duration::from_secs(30);

/// `FOLDER attack NAME PROFILE DUE`, `FOLDER bare NAME`, `FOLDER dies-with-runner PROFILE`, `FOLDER hold PROFILE`,
/// `FOLDER without PROTECTION refused|accepted`.
pub(crate) fn main(words: &[String]) -> ExitCode {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        [folder, "attack", name, profile, due] => attack(Path::new(folder), name, profile, due),
        [folder, "bare", name] => bare(Path::new(folder), name),
        [folder, "dies-with-runner", profile] => dies_with_runner(Path::new(folder), profile),
        [folder, "hold", profile] => hold(Path::new(folder), profile),
        [folder, "without", protection, accepted] => {
            without(Path::new(folder), protection, *accepted == "accepted")
        }
        _ => Err(format!("what is {words:?}?")),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            println!("{problem}");
            ExitCode::from(3)
        }
    }
}

/// A profile as its users make it, with limits that are soon reached.
fn profile(name: &str, world: &World) -> Result<Profile, String> {
    let tree = || Some((world.writable(), 64 * MIB));
    let base = match name {
        "native" | "series" | "channel" => Profile::native(),
        "emulator" => Profile { processes: 64, ..Profile::native() },
        "compile" => Profile { tree: tree(), ..Profile::compile(world.writable()) },
        "device" => Profile { tree: tree(), writable: vec![world.writable()], ..Profile::device() },
        "build" => Profile { tree: tree(), ..Profile::build(world.writable(), false) },
        "clang" => Profile { memory: Memory::AddressSpace(512 * MIB), ..Profile::clang() },
        other => return Err(format!("no profile {other}")),
    };
    let memory = match base.memory {
        Memory::Resident(_) => Memory::Resident(256 * MIB),
        space @ Memory::AddressSpace(_) => space,
    };
    Ok(Profile {
        memory,
        processor: Duration::from_secs(30),
        output_bytes: 8 * MIB,
        readable: vec![world.own()],
        scratch: base.scratch.min(32 * MIB),
        ..base
    })
}

fn program(world: &World, wall: Duration, channel: bool) -> Program {
    let mut environment: Vec<_> =
        world.facts().into_iter().map(|(name, value)| (name.into(), value.into())).collect();
    environment.push(("PATH".into(), "/usr/bin:/bin".into()));
    Program {
        command: vec![world.own().join("attack").into()],
        environment,
        directory: Some(world.own()),
        stdin: vec![b'x'; 1 << 20],
        wall,
        channel,
    }
}

fn attack(folder: &Path, name: &str, profile_name: &str, due: &str) -> Result<(), String> {
    let world = World::new(folder, name)?;
    let before = world.state()?;
    let endless = due.split('|').any(|end| end == "timeout");
    let program = program(&world, if endless { SHORT } else { LONG }, profile_name == "channel");
    let profile = profile(profile_name, &world)?;
    let mut problems = Vec::new();
    let mut series = Series::new(program.clone(), profile.clone());
    let times = if profile_name == "series" { 3 } else { 1 };
    for _ in 0..times {
        let began = Instant::now();
        let finished = match times {
            1 => run(&program, &profile),
            _ => series.run(&program.stdin),
        };
        let finished = finished.map_err(|death| format!("was not run: {death}"))?;
        if began.elapsed() > program.wall + Duration::from_secs(20) {
            problems.push(format!("the runner waited for {:?}", began.elapsed()));
        }
        problems.extend(judge(&finished, due));
    }
    drop(series);
    problems.extend(left_over(&world));
    match world.state() {
        Ok(after) => problems.extend(before.differences(&after)),
        Err(problem) => problems.push(problem),
    }
    problems.extend(world.heard());
    if problems.is_empty() { Ok(()) } else { Err(problems.join("\n")) }
}

/// An attack without a sandbox: it must get somewhere, and that must be seen.
fn bare(folder: &Path, name: &str) -> Result<(), String> {
    let world = World::new(folder, name)?;
    let before = world.state()?;
    let Program { command, environment, directory, .. } = program(&world, LONG, false);
    let output = Command::new(&command[0])
        .env_clear()
        .envs(environment)
        .current_dir(directory.unwrap_or_default())
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("was not run: {error}"))?;
    let said = String::from_utf8_lossy(&output.stdout);
    let changed = world.state().map_or(true, |after| !before.differences(&after).is_empty());
    match said.contains("ESCAPED") || changed || !world.heard().is_empty() {
        true => Ok(()),
        false => Err(format!("without a sandbox it gets nowhere, too: {said:?}")),
    }
}

/// What is wrong with how it ended.
fn judge(finished: &Finished, due: &str) -> Option<String> {
    let said = String::from_utf8_lossy(&finished.stdout);
    if let Some(line) = said.lines().find(|line| line.starts_with("ESCAPED")) {
        return Some(line.to_owned());
    }
    if finished.death.as_ref().is_some_and(Death::is_ours) {
        return Some(format!("passes for a fault of ours: {:?}", finished.death));
    }
    if due.split('|').any(|due| is_due(finished, &said, due)) {
        return None;
    }
    let words = String::from_utf8_lossy(&finished.stderr);
    let (said, words) = (last(&said), last(&words));
    let (status, death) = (finished.status, &finished.death);
    Some(format!("{due} is due, but: status {status:?}, {death:?}, said {said:?} and {words:?}"))
}

fn last(text: &str) -> String {
    text.lines().next_back().unwrap_or_default().chars().take(200).collect()
}

/// `held` (it said so and left, or was killed for a call it may not make), `dies`, `exit`,
/// `status N`, or the name of a limit.
fn is_due(finished: &Finished, said: &str, due: &str) -> bool {
    const SIGSYS: i32 = 31;
    match (due, &finished.death) {
        ("held", None) => finished.status == Some(0) && said.ends_with("held\n"),
        ("held", Some(death)) => matches!(death, Death::Signal(SIGSYS, _)),
        ("dies", death) => matches!(death, Some(Death::Signal(..))),
        ("exit", None) => finished.status.is_some(),
        (due, None) => {
            let status = due.strip_prefix("status ").and_then(|status| status.parse().ok());
            status.is_some() && finished.status == status
        }
        (due, Some(death)) => death.name() == due,
    }
}

/// Processes that are still there, by what they are.
fn left_over(world: &World) -> Option<String> {
    let begun = Instant::now();
    loop {
        let others = others(world);
        if others.is_empty() {
            return None;
        }
        if begun.elapsed() > GRACE {
            return Some(format!("left over: {}", others.join(", ")));
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// The runner is killed while a program runs; nothing of it may live on.
fn dies_with_runner(folder: &Path, profile_name: &str) -> Result<(), String> {
    let world = World::new(folder, "survive-timeout")?;
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut runner = Command::new(own)
        .arg("--inside")
        .arg(world.root())
        .args(["hold", profile_name])
        .stdin(Stdio::null())
        .spawn()
        .map_err(|error| error.to_string())?;
    let begun = Instant::now();
    let is_running = || others(&world).iter().any(|one| one.starts_with("attack"));
    while !is_running() {
        if begun.elapsed() > LONG || runner.try_wait().is_ok_and(|ended| ended.is_some()) {
            return Err("the program was not started".into());
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    // Its daemons are on their way.
    std::thread::sleep(Duration::from_millis(100));
    runner.kill().and_then(|()| runner.wait()).map_err(|error| error.to_string())?;
    left_over(&world).map_or(Ok(()), Err)
}

/// The runner of the trial above: runs what lies in another's world until it is killed.
fn hold(root: &Path, profile_name: &str) -> Result<(), String> {
    let world = World::of(root);
    let program = program(&world, LONG, false);
    let input = program.stdin.clone();
    let finished = Series::new(program, profile(profile_name, &world)?).run(&input);
    Err(format!("it ended: {finished:?}"))
}

/// On a kernel that lacks protections nothing is started, unless the user accepts that.
fn without(folder: &Path, protections: &str, accepted: bool) -> Result<(), String> {
    let world = World::new(folder, "input-not-read")?;
    stampmill_sandbox::allow_weak(accepted);
    let ended = run(&program(&world, LONG, false), &profile("native", &world)?);
    match (ended, accepted) {
        (Err(death @ Death::Start(_)), false) => {
            let text = death.to_string();
            let mut wanted = protections.split(' ').chain(["--allow-weak-sandbox"]);
            match wanted.find(|word| !text.contains(word)) {
                None => Ok(()),
                Some(word) => Err(format!("{text:?} does not name {word}")),
            }
        }
        (Ok(finished), true) => {
            if let Some(problem) = judge(&finished, "held") {
                return Err(problem);
            }
            match finished.held.missing().join(" ") == protections {
                true => Ok(()),
                false => Err(format!("missing is {protections}, not {}", finished.held)),
            }
        }
        (other, _) => Err(format!("{protections} is gone and accepted: {accepted}, but {other:?}")),
    }
}

//! Ends at drawn moments: killed, stopped by Ctrl-C, asked to stop; then the same command again.

use crate::{
    home::{Home, Straight, orphans},
    stage::Stage,
};
use rand::{Rng, SeedableRng, rngs::StdRng};
use std::time::Duration;

/// Kills of a stage unless `STAMPMILL_KILLS` says otherwise.
const KILLS: u32 = 3;
/// Kills of one run before it may go on to its end.
const IN_A_ROW: u32 = 3;
/// What a command that was stopped is to answer.
const STOPPED: i32 = 130;

fn setting(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|text| text.parse().ok())
}

#[derive(Default)]
struct Tally {
    kills: u32,
    late: u32,
    stops: u32,
    rounds: u32,
    leftovers: usize,
    problems: Vec<String>,
}

/// Kill the stage's command as often as is asked for, and stop it twice; tells in a line how that went.
pub(crate) fn kills(stage: &Stage) -> Result<String, String> {
    let home = Home::new(stage);
    let straight = Straight::of(&home, stage)?;
    let wanted = setting("STAMPMILL_KILLS").and_then(|n| u32::try_from(n).ok()).unwrap_or(KILLS);
    let seed = setting("STAMPMILL_SEED").unwrap_or(0);
    let mut random =
        StdRng::seed_from_u64(seed ^ u64::from(u32::from_le_bytes(letters(stage.name))));
    let mut tally = Tally::default();
    for signal in ["INT", "TERM"] {
        round(&home, stage, &straight, &[signal], &mut random, &mut tally)?;
    }
    while tally.kills < wanted {
        let left = wanted - tally.kills;
        let count = random.random_range(1..=IN_A_ROW.min(left));
        let signals = vec!["KILL"; count as usize];
        round(&home, stage, &straight, &signals, &mut random, &mut tally)?;
    }
    let line = format!(
        "{} kills ({} after its end), {} stops, {} runs resumed, {} problems",
        tally.kills,
        tally.late,
        tally.stops,
        tally.rounds,
        tally.problems.len()
    );
    match tally.problems.is_empty() {
        true => {
            let (rows, left) = (straight.rows.len(), tally.leftovers);
            Ok(format!("{line}; {rows} rows equal, 0 orphans, {left} leftovers"))
        }
        false => Err(format!("{line}\n{}", tally.problems.join("\n"))),
    }
}

/// The first letters of a name, to draw other moments for each stage.
fn letters(name: &str) -> [u8; 4] {
    let mut letters = [0; 4];
    name.bytes().rev().zip(&mut letters).for_each(|(from, to)| *to = from);
    letters
}

/// Start, signal at a drawn moment, start again, until it ends by itself.
fn round(
    home: &Home,
    stage: &Stage,
    straight: &Straight,
    signals: &[&str],
    random: &mut StdRng,
    tally: &mut Tally,
) -> Result<(), String> {
    home.reset().map_err(|error| error.to_string())?;
    let mut whole = false;
    let mut moments = Vec::new();
    for signal in signals {
        let moment = straight.took.mul_f64(random.random::<f64>());
        moments.push(format!("{signal} after {moment:.2?}"));
        let mut running = home.start(stage, &[]).map_err(|error| error.to_string())?;
        std::thread::sleep(moment);
        let late = running.has_ended();
        // Until it listens to signals one ends it as it ends any process: nothing is begun by then.
        let listens = running.listens();
        running.signal(signal);
        let ended = running.end()?;
        let code = ended.status.code();
        if *signal == "KILL" {
            tally.kills += 1;
            tally.late += u32::from(late);
        } else {
            tally.stops += 1;
            let early = code.is_none() && !listens;
            // A stop that comes with the last row may find everything done.
            if code != Some(STOPPED) && code != Some(0) && !early {
                tally.problems.push(format!("{signal}: ended with {}", ended.told()));
            }
        }
        let orphans = orphans();
        if !orphans.is_empty() {
            tally.problems.push(format!("{signal}: still running: {}", orphans.join(", ")));
            wait_for_none();
        }
        whole = ended.status.success();
        if whole {
            break;
        }
        // What looks whole must be.
        if home.path().join("made/out/_dataset.json").exists()
            && let Err(problem) = home.compare(stage, straight)
        {
            tally.problems.push(format!("{}: made/out is there: {problem}", moments.join(", ")));
            return Ok(());
        }
    }
    let moments = moments.join(", ");
    if !whole {
        let ended = home.run(stage, &[])?;
        // Killed when all was done: it refuses to overwrite what is there, and that is compared.
        let is_there = ended.said.contains("exists already") && ended.status.code() == Some(2);
        if !ended.status.success() && !is_there {
            tally.problems.push(format!("{moments}: then {}", ended.told()));
            return Ok(());
        }
    }
    tally.rounds += 1;
    if let Err(problem) = home.compare(stage, straight) {
        tally.problems.push(format!("{moments}: {problem}"));
    }
    // One that is killed cannot clear up: that is counted, and no problem.
    tally.leftovers += home.leftovers(stage).len();
    Ok(())
}

/// Orphans of one run are not to be counted for the next.
fn wait_for_none() {
    for (_, pid) in crate::home::processes() {
        crate::home::run_by(&format!("kill -KILL {pid}"));
    }
    std::thread::sleep(Duration::from_millis(200));
}

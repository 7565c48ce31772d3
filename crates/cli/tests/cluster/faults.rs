//! What dies while a cluster works: the data set is the same, and nothing of it is left.

use crate::{
    Done,
    home::{Home, run_by},
    stage::Stage,
    up::{self, Up},
};
use rand::{Rng, SeedableRng, rngs::StdRng};
use std::{
    fs,
    path::PathBuf,
    process::Stdio,
    time::{Duration, Instant},
};

/// Kills unless `STAMPMILL_KILLS` says otherwise.
const KILLS: u64 = 2;
const PARTS: u32 = 12;

fn setting(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

struct Round {
    home: Home,
    alone: PathBuf,
    /// How long an undisturbed run on a cluster takes.
    took: Duration,
}

impl Round {
    fn new(stage: &Stage) -> Result<Round, String> {
        let home = Home::new(stage);
        home.run_well(stage)?;
        let alone = home.path().join("alone");
        fs::rename(home.path().join("made/out"), &alone).map_err(|error| error.to_string())?;
        home.reset().map_err(|error| error.to_string())?;
        let cluster = Up::start(&home, 3)?;
        let begun = Instant::now();
        up::well(up::on_cluster(&home, stage, &cluster.url, PARTS))?;
        let round = Round { took: begun.elapsed(), home, alone };
        round.is_same()?;
        cluster.end()?;
        round.home.reset().map_err(|error| error.to_string())?;
        Ok(round)
    }

    fn is_same(&self) -> Result<(), String> {
        let out = self.home.path().join("made/out");
        // Measured times are no bytes that two runs have in common.
        match up::equal(&self.alone, &out) {
            Ok(_) => {}
            Err(_) if self.measures() => self.home.must("fsck made/out"),
            Err(why) => return Err(why),
        }
        up::nothing_beside(&self.home)
    }

    fn measures(&self) -> bool {
        fs::read_to_string(self.alone.join("dataset.json"))
            .is_ok_and(|text| text.contains("\"schema\": \"judgement\""))
    }

    /// Run the stage on three executors and do `harm` at a drawn moment of it.
    fn run(
        &self,
        stage: &Stage,
        moment: f64,
        harm: impl FnOnce(&Up) -> Result<(), String>,
    ) -> Result<String, String> {
        let cluster = Up::start(&self.home, 3)?;
        let mut command = up::on_cluster(&self.home, stage, &cluster.url, PARTS);
        command.arg("-v").stdout(Stdio::null()).stderr(Stdio::piped());
        let client = command.spawn().map_err(|error| error.to_string())?;
        std::thread::sleep(self.took.mul_f64(moment));
        harm(&cluster)?;
        let output = client.wait_with_output().map_err(|error| error.to_string())?;
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        if !output.status.success() {
            return Err(format!("the command ended with {}: {said}", output.status));
        }
        self.is_same()?;
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
    round.is_same()?;
    second.end()?;
    Ok(said.trim().chars().take(160).collect())
}

//! The same data set comes of a cluster as of one machine.

use crate::{
    Done,
    home::Home,
    stage::{Rows, STAGES, Stage},
    up::{self, Up},
};
use std::fs;

/// Parts of a job: more than executors, and more than some stages have items.
const PARTS: u32 = 5;
/// Stages whose rows hold times, or what a compiler's cache left.
const MEASURE: [&str; 4] = ["run", "edits-judge", "ir-extract", "ir-stats"];

pub(crate) fn same(stage: &Stage) -> Done {
    let home = Home::new(stage);
    home.run_well(stage)?;
    let (out, alone) = (home.path().join("made/out"), home.path().join("alone"));
    fs::rename(&out, &alone).map_err(|error| error.to_string())?;
    let cluster = Up::start(&home, 2)?;
    up::well(up::on_cluster(&home, stage, &cluster.url, PARTS))?;
    up::nothing_beside(&home)?;
    home.must("fsck made/out");
    let compared = compare(&home, stage)?;
    cluster.end()?;
    Ok(compared)
}

/// Whether `made/out` is what `alone` is: byte by byte, or in all rows where a stage measures times, which differ from run
/// to run on one machine too.
pub(crate) fn compare(home: &Home, stage: &Stage) -> Done {
    let (alone, out) = (home.path().join("alone"), home.path().join("made/out"));
    if !MEASURE.contains(&stage.name) {
        return Ok(format!("{} bytes equal", up::equal(&alone, &out)?));
    }
    let (of_one, of_many) = (rows(home, stage, "alone")?, rows(home, stage, "made/out")?);
    match of_one == of_many {
        true => Ok(format!("{} rows equal", of_one.len())),
        false => {
            Err(format!("{} rows alone, {} on a cluster, or others", of_one.len(), of_many.len()))
        }
    }
}

/// What of the rows must be equal, in their order.
fn rows(home: &Home, stage: &Stage, dataset: &str) -> Result<Vec<String>, String> {
    let Rows::Query(sql) = stage.rows else { return Err("its rows are no data set".into()) };
    let mut command = up::command(home);
    command.args(["query", sql, &format!("d={dataset}"), "--format", "jsonl"]);
    let output = up::well(command)?;
    let lines = String::from_utf8_lossy(&output.stdout).into_owned();
    Ok(lines.lines().map(str::to_owned).collect())
}

/// A query answers the same.
pub(crate) fn query() -> Done {
    let stage = STAGES.iter().find(|stage| stage.name == "features").ok_or("no stage")?;
    let home = Home::new(stage);
    home.run_well(stage)?;
    let cluster = Up::start(&home, 2)?;
    let mut answers = Vec::new();
    let sql = "SELECT verdict, count(*) AS n, sum(instcount[1]) AS s FROM d GROUP BY verdict ORDER BY verdict";
    for words in [&[][..], &["--cluster", cluster.url.as_str()]] {
        let mut command = up::command(&home);
        command.args(["query", sql, "d=made/out", "--format", "jsonl"]).args(words);
        answers.push(String::from_utf8_lossy(&up::well(command)?.stdout).into_owned());
    }
    if answers[0] != answers[1] || answers[0].is_empty() {
        return Err(format!("alone {:?}, on a cluster {:?}", answers[0], answers[1]));
    }
    // An executor reads nothing outside of its folder.
    let outside = tempfile::tempdir().map_err(|error| error.to_string())?;
    let copied = outside.path().join("set");
    let from = home.path().join("made/out");
    let copy = std::process::Command::new("cp").arg("-r").args([&from, &copied]).status();
    copy.map_err(|error| error.to_string())?;
    let mut command = up::command(&home);
    command.args([
        "query",
        "SELECT max(path) FROM dataset WHERE path <> ''",
        &copied.display().to_string(),
    ]);
    command.args(["--cluster", &cluster.url]);
    up::refused(command, &["refused", "the executor's only folder"])?;
    cluster.end()?;
    Ok(format!("{} lines equal", answers[0].lines().count()))
}

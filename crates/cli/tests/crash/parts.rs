//! A job in three parts, joined: the data set is that of one run, row for row and in the same order.

use crate::{
    home::Home,
    stage::{Rows, Stage},
};

/// Stages that work on all their items together, or whose items depend on each other.
pub(crate) const WHOLE: [&str; 2] = ["train", "learn"];

/// Do the stage's job whole and in parts; tells in a line how that went.
pub(crate) fn parts(stage: &Stage) -> Result<String, String> {
    const PARTS: u32 = 3;
    let Rows::Query(sql) = stage.rows else { return Err("its rows are no data set".into()) };
    let home = Home::new(stage);
    home.run_well(stage)?;
    let whole = rows(&home, sql, "made/out")?;
    home.must("fsck made/out");
    let mut merge = vec!["merge".to_owned()];
    for part in (1..=PARTS).rev() {
        let line = format!("{} --part {part}/{PARTS}", stage.command);
        let words: Vec<String> =
            line.split_whitespace().map(|word| word.replace("made/out", &at(part))).collect();
        let (status, said) = home.ends(&words)?;
        // Nothing in a part may be accepted: a negative result.
        if !matches!(status, Some(0 | 1)) {
            return Err(format!("part {part} ended with {status:?}: {said}"));
        }
        merge.push(at(part));
    }
    merge.extend(["--out".to_owned(), "made/merged".to_owned()]);
    let (status, said) = home.ends(&merge)?;
    if status != Some(0) {
        return Err(format!("merge ended with {status:?}: {said}"));
    }
    home.must("fsck made/merged");
    let merged = rows(&home, sql, "made/merged")?;
    match merged == whole {
        true => Ok(format!("{} rows equal, {PARTS} parts", whole.len())),
        false => {
            let at = whole.iter().zip(&merged).position(|(a, b)| a != b);
            let at = at.unwrap_or(whole.len().min(merged.len()));
            let row = |rows: &[String]| rows.get(at).cloned().unwrap_or_default();
            Err(format!(
                "{} rows whole, {} merged; row {at} is\n{}\nand was\n{}",
                whole.len(),
                merged.len(),
                row(&merged),
                row(&whole)
            ))
        }
    }
}

fn at(part: u32) -> String {
    format!("made/part{part}")
}

fn rows(home: &Home, sql: &str, dataset: &str) -> Result<Vec<String>, String> {
    let words = ["query", sql, &format!("d={dataset}"), "--format", "jsonl"].map(str::to_owned);
    let (status, said) = home.ends(&words)?;
    match status {
        Some(0) => Ok(said.lines().map(str::to_owned).collect()),
        _ => Err(format!("{dataset} cannot be read: {said}")),
    }
}

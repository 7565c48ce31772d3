//! CLgen's Table 1 for tasks of one's own: a tree trained on one group of programs, tested on another.

use crate::{Error, Options, Set, page::Page};
use dataset::Row as _;
use heuristics::{Method, Task};
use std::collections::BTreeMap;

/// Groups of a table at most: those with the most rows.
const MOST: usize = 12;
/// Rows of a group at least: a tree of fewer says nothing.
const LEAST: usize = 5;

pub(crate) fn make(sets: &[Set], _: &Options, page: &mut Page) -> Result<(), Error> {
    let mut made = 0;
    for set in sets.iter().filter(|set| set.is(rows::TaskHead::SCHEMA)) {
        let task = Task::load(set.dataset.folder())?;
        let Some(groups) = groups(&task) else {
            page.lacks(
                &set.name,
                &format!("two groups with {LEAST} measured programs each, and two choices (`label --group` says what a group is)"),
            );
            continue;
        };
        let mut header = vec!["tested on"];
        header.extend(groups.iter().map(String::as_str));
        let rows = cells(&task, &groups)?;
        made += 1;
        let name = if made == 1 { "table1".to_owned() } else { format!("table1-{made}") };
        let title = format!(
            "{}: per cent of the oracle, trained on the column, tested on the row",
            set.name
        );
        let note = format!(
            "A decision tree of all the task's features. Geometric mean over the row's programs of the best cost / that of the choice made. The last row: always {}, the choice that is best most often in the whole task. \
             Groups with fewer than {LEAST} rows, and all but the {MOST} largest, are left out. In italics: cells of the paper's table (AMD) that do not depend on how ties are broken, where groups have the names of its suites.",
            majority(&task)
        );
        page.table(&name, &title, &header, rows, &note);
    }
    Ok(())
}

/// The groups that are compared, by name; `None` where there are no two, or nothing to choose.
fn groups(task: &Task) -> Option<Vec<String>> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for row in task.rows.iter().filter(|row| row.measured()) {
        *counts.entry(&row.group).or_default() += 1;
    }
    let mut groups: Vec<(&str, usize)> =
        counts.into_iter().filter(|(_, rows)| *rows >= LEAST).collect();
    groups.sort_by_key(|(_, rows)| std::cmp::Reverse(*rows));
    groups.truncate(MOST);
    let mut groups: Vec<String> = groups.into_iter().map(|(name, _)| name.to_owned()).collect();
    groups.sort();
    (groups.len() > 1 && task.choices.len() > 1).then_some(groups)
}

/// The choice that is best most often.
fn majority(task: &Task) -> &str {
    let place = task.majority();
    task.choices.get(place).map_or("", String::as_str)
}

fn cells(task: &Task, groups: &[String]) -> Result<Vec<Vec<String>>, Error> {
    let of = |group: &String| task.filter(|row| row.measured() && row.group == *group);
    let parts: Vec<Task> = groups.iter().map(of).collect();
    let tree = Method::parse("tree")?;
    let models: Vec<_> =
        parts.iter().map(|part| tree.fit(part, 0)).collect::<heuristics::Result<_>>()?;
    let mut table: Vec<Vec<String>> = Vec::new();
    for (group, tested) in groups.iter().zip(&parts) {
        let cells = models.iter().map(|model| percent(tested, |features| model.predict(features)));
        table.push(std::iter::once(group.clone()).chain(cells).collect());
    }
    let fixed = task.majority();
    let always = parts.iter().map(|part| percent(part, |_| fixed));
    table.push(std::iter::once("always the same".to_owned()).chain(always).collect());
    Ok(table)
}

/// What the choices made for these programs obtain, in per cent of the best.
fn percent(task: &Task, choose: impl Fn(&[f64]) -> usize) -> String {
    let obtained =
        task.rows.iter().map(|row| row.costs[row.label] / row.costs[choose(&row.features)]);
    let logarithms: f64 = obtained.map(f64::ln).sum();
    format!("{:.1}", 100.0 * (logarithms / task.rows.len() as f64).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task() -> Task {
        // In the first group the first choice is best for small programs, in the second for large ones.
        let row = |group: &str, at: usize| {
            let small = at < 4;
            let first = small == (group == "a");
            heuristics::Row {
                program: format!("{group}{at}"),
                variant: String::new(),
                group: group.to_owned(),
                features: vec![at as f64],
                costs: if first { vec![1.0, 2.0] } else { vec![2.0, 1.0] },
                label: usize::from(!first),
            }
        };
        let rows = ["a", "b"].iter().flat_map(|group| (0..8).map(move |at| row(group, at)));
        Task {
            features: vec!["size".into()],
            choices: vec!["CPU".into(), "GPU".into()],
            rows: rows.chain([row("few", 0)]).collect(),
        }
    }

    #[test]
    fn a_tree_of_one_group_is_tested_on_the_others() {
        let task = task();
        let groups = groups(&task).expect("two groups");
        assert_eq!(groups, ["a", "b"], "one row is no group");
        let cells = cells(&task, &groups).expect("trees");
        assert_eq!(cells[0], ["a", "100.0", "50.0"]);
        assert_eq!(cells[1], ["b", "50.0", "100.0"]);
        assert_eq!(cells[2][1..], ["70.7", "70.7"]);
    }

    #[test]
    fn one_group_is_no_table() {
        let task = task().filter(|row| row.group == "a");
        assert!(groups(&task).is_none());
    }
}

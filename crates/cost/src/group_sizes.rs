//! Which size of work-groups is fastest, from what `run --local-sizes` measured.

use crate::{
    Error, LabelReport, LabelRow, Result,
    described::Described,
    stage::{Counted, cheapest},
};
use dataset::{
    Dataset, Input, Row as _, Verdict, content_hash_of,
    stage::{Facts as _, Finish, Items, Stage, Units, Worked},
};
use rows::{Grouping, LabelHead, Outcome, RunRow, TaskVerdict, program_name};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

/// A kernel at one global size, and what it costs by each size of groups.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GroupSizesItem {
    /// One of its runs, for what it says of the program.
    pub run: RunRow,
    /// Seconds on the device, in the order of the choices; `None`: it did not pass there.
    pub costs: Vec<Option<f64>>,
}

impl dataset::Row for GroupSizesItem {
    const SCHEMA: &'static str = "group-sizes-item";
    const VERSION: u32 = 1;
}

/// Labels kernels with the size of work-groups that is fastest on a device: a row of schema `task` for each kernel and
/// global size. The column `variant` has the global size, which is no feature.
pub struct GroupSizes {
    items: Vec<GroupSizesItem>,
    /// Sizes of groups, in work-items, ascending.
    choices: Vec<u64>,
    device: String,
    inputs: Vec<Input>,
    tools: BTreeMap<String, String>,
    seed: u64,
    grouping: Grouping,
    described: Described,
}

impl GroupSizes {
    /// Group the rows of `runs` (schema `run`) by kernel and global size; `vectors` is a data set of schema `features`.
    /// What is held out together is as [`Grouping::of_packages`] says, unless told.
    ///
    /// # Errors
    /// When `runs` is no data set of runs on one device of one machine at several sizes of groups, or cannot be read.
    pub fn new(
        runs: &Path,
        vectors: Option<&Path>,
        grouping: Option<Grouping>,
    ) -> Result<GroupSizes> {
        let dataset = Dataset::open(runs)?;
        dataset.require(RunRow::SCHEMA, RunRow::VERSION)?;
        let wrong = |why: String| Error::Runs { path: runs.to_owned(), why };
        let manifest = dataset.manifest();
        let hosts: Vec<String> = manifest.hosts().collect();
        if hosts.len() > 1 {
            return Err(wrong(format!("measured on several machines: {}", hosts.join(", "))));
        }
        // A kernel that demands a size of groups has run in that, whatever was asked for.
        let asked = manifest.notes.configuration["local_sizes"].as_array();
        let asked = asked.into_iter().flatten().filter_map(Value::as_u64);
        let choices: Vec<u64> = asked.collect::<BTreeSet<u64>>().into_iter().collect();
        let devices: dataset::Result<BTreeSet<String>> =
            dataset.rows::<RunRow>()?.map(|row| Ok(row?.device)).collect();
        let devices = devices?;
        if devices.len() > 1 {
            let devices: Vec<String> = devices.into_iter().collect();
            return Err(wrong(format!(
                "measured on {}; take the rows of one (`query`)",
                devices.join(" and ")
            )));
        }
        if choices.len() < 2 {
            let why =
                "no two sizes of groups were asked for: make it by `run --local-sizes 32,64,256`";
            return Err(wrong(why.to_owned()));
        }
        let items = gather(dataset.rows::<RunRow>()?, &choices)?;
        let packages = items.iter().map(|item| item.run.package.as_str());
        let grouping = grouping.unwrap_or_else(|| Grouping::of_packages(packages));
        let measured = Input { name: runs.display().to_string(), hash: manifest.identity.clone() };
        let described = vectors.map(Described::read).transpose()?.unwrap_or_default();
        Ok(GroupSizes {
            items,
            choices,
            device: devices.into_iter().next().unwrap_or_default(),
            inputs: std::iter::once(measured).chain(described.input.clone()).collect(),
            tools: manifest.notes.tools.clone(),
            seed: manifest.notes.seed,
            grouping,
            described,
        })
    }

    fn names(&self) -> Vec<String> {
        self.choices.iter().map(u64::to_string).collect()
    }

    fn row(&self, item: &GroupSizesItem) -> LabelRow {
        let run = &item.run;
        let mut head = LabelHead {
            program: program_name(&run.package, &run.path, Some(run.known_as()), &run.id),
            variant: run.global_size.to_string(),
            group: self.grouping.of(&run.package, &run.family, &run.path).to_owned(),
            id: run.id.clone(),
            package: run.package.clone(),
            family: run.family.clone(),
            path: run.path.clone(),
            name: run.known_as().to_owned(),
            license: run.license.clone(),
            ..LabelHead::default()
        };
        let names = self.names();
        let failed: Vec<&str> = item
            .costs
            .iter()
            .zip(&names)
            .filter_map(|(cost, name)| cost.is_none().then_some(name.as_str()))
            .collect();
        let verdict = match failed.len() {
            0 => {
                let costs: Vec<f64> = item.costs.iter().copied().flatten().collect();
                head.label = cheapest(&costs).map(|place| names[place].clone());
                self.described.verdict(&run.id)
            }
            all if all == names.len() => Verdict::new(TaskVerdict::Unmeasured, &run.outcome),
            _ => Verdict::new(TaskVerdict::ChoiceFailed, failed.join(" ")),
        };
        if failed.len() < names.len() {
            head.costs.clone_from(&item.costs);
        }
        (head.verdict, head.detail) = (verdict.name.into_owned(), verdict.detail);
        LabelRow { head, described: self.described.of(&run.id) }
    }
}

/// The runs of each kernel and global size; of several at one size of groups the fastest.
fn gather(
    rows: impl IntoIterator<Item = dataset::Result<RunRow>>,
    choices: &[u64],
) -> Result<Vec<GroupSizesItem>> {
    let mut items: BTreeMap<_, GroupSizesItem> = BTreeMap::new();
    for row in rows {
        let row = row?;
        let named = |text: &String| text.clone();
        let key = ([&row.package, &row.path, &row.kernel, &row.id].map(named), row.global_size);
        let item = items.entry(key).or_insert_with(|| GroupSizesItem {
            run: row.clone(),
            costs: vec![None; choices.len()],
        });
        let passed = row.outcome == Outcome::Pass.name();
        let time = row.kernel_time_ns.filter(|time| passed && *time > 0);
        let place = row.local_size.and_then(|size| choices.binary_search(&size).ok());
        if let (Some(time), Some(place)) = (time, place) {
            let (slot, seconds) = (&mut item.costs[place], time as f64 * 1e-9);
            *slot = Some(slot.map_or(seconds, |known| known.min(seconds)));
        }
    }
    Ok(items.into_values().collect())
}

impl Stage for GroupSizes {
    const NAME: &'static str = "label --task local-size";
    const UNITS: &'static str = "kernels at sizes";
    type Item = GroupSizesItem;
    type Row = LabelRow;
    type Facts = Counted;
    type Summary = LabelReport;
    type Worker = ();
    type Error = Error;

    fn settings(&self) -> Value {
        json!({
            "task": "local-size",
            "costs": "seconds of the kernel on the device",
            "choices": self.names(),
            "device": self.device,
            "grouping": self.grouping,
            "spaces": self.described.spaces,
            "vectors_level": self.described.level,
        })
    }

    fn seed(&self) -> u64 {
        self.seed
    }

    fn inputs(&self) -> Result<Vec<Input>> {
        Ok(self.inputs.clone())
    }

    fn items(&self) -> Result<Items<'_, GroupSizes>> {
        let all = Box::new(self.items.iter().cloned().map(Ok));
        Ok(Items { total: Some(self.items.len() as u64), all })
    }

    fn key(&self, item: &GroupSizesItem) -> String {
        let (run, size) = (&item.run, item.run.global_size.to_string());
        let pieces = [&run.package, &run.path, &run.kernel, &run.id, &size];
        content_hash_of(pieces.map(|piece| piece.as_bytes()))
    }

    fn batch_size(&self) -> usize {
        1024
    }

    fn worker(&self) -> Result<()> {
        Ok(())
    }

    fn work(&self, (): &mut (), items: &[GroupSizesItem]) -> Result<Vec<Worked<LabelRow>>> {
        Ok(items.iter().map(|item| Worked::Rows(vec![self.row(item)])).collect())
    }

    fn is_fault(error: &Error) -> bool {
        error.is_fault()
    }

    fn observe(&self, _: &GroupSizesItem, _: Option<&[LabelRow]>, facts: &mut Counted) {
        facts.absorb(Counted { programs: 1 });
    }

    fn tools(&self) -> BTreeMap<String, String> {
        self.tools.clone()
    }

    fn finish<'a>(
        _: &'a Value,
        facts: Counted,
        units: &'a Units<LabelRow>,
    ) -> Result<Finish<'a, LabelRow, LabelReport>> {
        LabelReport::of(facts, units)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(
        kernel: &str,
        local: Option<u64>,
        time: u64,
        outcome: Outcome,
    ) -> dataset::Result<RunRow> {
        Ok(RunRow {
            kernel: kernel.to_owned(),
            id: format!("id of {kernel}"),
            path: "a.cl".to_owned(),
            device: "gpu".to_owned(),
            global_size: 1024,
            local_size: local,
            kernel_time_ns: (time > 0).then_some(time),
            outcome: outcome.name().to_owned(),
            ..RunRow::default()
        })
    }

    #[test]
    fn the_fastest_size_of_groups_is_the_label() {
        let rows = [
            run("A", Some(32), 700, Outcome::Pass),
            run("A", Some(64), 500, Outcome::Pass),
            run("A", Some(64), 400, Outcome::Pass),
            run("B", Some(32), 100, Outcome::Pass),
            run("B", Some(64), 0, Outcome::InvalidSize),
            run("C", None, 0, Outcome::BuildFailure),
            // A time of what did not pass counts for nothing.
            run("D", Some(32), 5, Outcome::Race),
            run("D", Some(64), 6, Outcome::Race),
        ];
        let sizes = GroupSizes {
            items: gather(rows, &[32, 64]).expect("rows"),
            choices: vec![32, 64],
            device: "gpu".to_owned(),
            inputs: Vec::new(),
            tools: BTreeMap::new(),
            seed: 0,
            grouping: Grouping::Path,
            described: Described::default(),
        };
        let rows: Vec<LabelHead> = sizes.items.iter().map(|item| sizes.row(item).head).collect();
        let of = |at: usize| {
            let row = &rows[at];
            (row.label.as_deref(), row.verdict.as_str(), row.detail.as_str())
        };
        assert_eq!(of(0), (Some("64"), "accepted", ""));
        assert!(rows[0].costs[1].is_some_and(|cost| (cost - 4e-7).abs() < 1e-12));
        assert_eq!(of(1), (None, "choice-failed", "64"));
        assert_eq!(of(2), (None, "unmeasured", "build-failure"));
        assert_eq!(of(3), (None, "unmeasured", "race"));
        assert!(rows[3].costs.is_empty() && rows[1].costs == [Some(100.0 * 1e-9), None]);
        assert_eq!(
            (rows[0].program.as_str(), rows[0].variant.as_str()),
            ("a.cl:A@id of A", "1024")
        );
    }
}

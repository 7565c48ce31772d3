use super::{Context, Done, Facts, Share, Stage, Unit, Units, run::conclude};
use crate::{Builder, Dataset, Error, Input, Notes};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, marker::PhantomData, path::PathBuf, time::Instant};

/// Units that stand in one part of the unfinished data set, at most, and rows: where the order is another
/// than that of the items, and the shares are more than are held open, a part is read again for nearly each of its units.
const TOGETHER: usize = 256;
const ROWS_TOGETHER: u64 = 1024;

/// What the manifest of one share says, so that the shares can be joined.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Shared {
    /// The stage's name.
    pub stage: String,
    /// Which share it is, of how many.
    pub share: Share,
    /// Items of the whole job.
    pub items: u64,
    /// Items of this share that were not begun because the time was up.
    pub left: u64,
    /// What of the input is no item of any share.
    #[serde(default)]
    pub left_out: BTreeMap<String, u64>,
    /// What the stage counts beside its rows.
    pub facts: serde_json::Value,
    /// The items of this share, in the order of their rows.
    pub units: Vec<Unit>,
}

/// Join the shares of one job: the data set has the rows that one run without `--part` has, in the same
/// order.
///
/// # Errors
/// When they are not shares of one job of this stage, when one is missing or given twice, and when the
/// data set cannot be written.
pub fn merge<S: Stage>(
    shares: &[PathBuf],
    context: &Context<'_>,
) -> Result<Done<S::Summary>, S::Error> {
    let started = Instant::now();
    // A damaged share would become a whole data set.
    let shares: Vec<Dataset> =
        shares.iter().map(|path| Dataset::open_verified(path)).collect::<Result<_, _>>()?;
    let shares = in_order(S::NAME, shares)?;
    let Some((first, _)) = shares.first() else { return Err(Error::NoShares.into()) };
    let notes = joined(&shares);
    let settings = &notes.configuration;
    let inputs: Vec<Input> = shares
        .iter()
        .map(|(dataset, shared)| Input {
            name: shared.share.to_string(),
            hash: dataset.manifest().identity.clone(),
        })
        .collect();
    first.require(<S::Row as crate::Row>::SCHEMA, <S::Row as crate::Row>::VERSION)?;
    let plan = ("merge", S::NAME, settings, notes.seed);
    let builder = Builder::<S::Row>::create_from(&context.out, context.force, &plan, &inputs)?;
    context.progress.begin("merge", shares.iter().map(|(_, s)| s.units.len() as u64).sum());
    let mut facts = S::Facts::default();
    let (mut units, mut parts) = (Vec::new(), Vec::new());
    for (number, (dataset, shared)) in shares.iter().enumerate() {
        builder.remember(&dataset.manifest().sandbox)?;
        facts.absorb(serde_json::from_value(shared.facts.clone()).map_err(|error| {
            Error::shard(dataset.folder(), format!("its counts cannot be read: {error}"))
        })?);
        let mut rows = dataset.rows::<S::Row>()?;
        for (chunk, of_chunk) in together(&shared.units).into_iter().enumerate() {
            let name = format!("share {number} {chunk}");
            let mut offset = 0;
            for unit in of_chunk {
                units.push(Unit { part: parts.len(), offset, ..unit.clone() });
                offset += unit.rows;
            }
            if context.cancel.is_cancelled() {
                let (done, kept) = (units.len() as u64, builder.unfinished().to_owned());
                return Err(Error::Cancelled { units: S::UNITS, done, kept }.into());
            }
            let mut rows = rows.by_ref().take(usize::try_from(offset).unwrap_or(usize::MAX));
            match builder.has(&name) {
                true => rows.try_for_each(|row| row.map(drop))?,
                false => builder.add_counted(&name, of_chunk.iter().map(|unit| unit.rows), rows)?,
            }
            parts.push(builder.part(&name));
            context.progress.advance(of_chunk.len() as u64);
        }
    }
    units.sort_by_key(|unit| unit.position);
    let left = shares.iter().map(|(_, shared)| shared.left).sum();
    let units = Units { units, parts, left, row: PhantomData };
    if units.items() + left != shares[0].1.items {
        return Err(Error::OtherShares("they do not hold every item once".to_owned()).into());
    }
    let settings = settings.clone();
    let left_out = shares[0].1.left_out.clone();
    let summary = conclude::<S>(builder, &settings, facts, &units, notes)?;
    context.progress.end();
    Ok(Done { summary, seconds: started.elapsed().as_secs_f64(), left_out })
}

/// The units of each part.
fn together(units: &[Unit]) -> Vec<&[Unit]> {
    let (mut count, mut rows) = (0, 0);
    let is_together = |_: &Unit, next: &Unit| {
        (count, rows) = (count + 1, rows + next.rows);
        let fits = count < TOGETHER && rows <= ROWS_TOGETHER;
        if !fits {
            (count, rows) = (0, next.rows);
        }
        fits
    };
    units.chunk_by(is_together).collect()
}

/// The shares by number, all of one job and all there.
fn in_order(stage: &str, shares: Vec<Dataset>) -> Result<Vec<(Dataset, Shared)>, Error> {
    let mut by_index: BTreeMap<u32, (Dataset, Shared)> = BTreeMap::new();
    let mut count = 0;
    for dataset in shares {
        let name = dataset.folder().display().to_string();
        let Some(shared) = dataset.manifest().notes.share.clone() else {
            return Err(Error::OtherShares(format!("{name} was not made with --part")));
        };
        if shared.stage != stage {
            let found = &shared.stage;
            return Err(Error::OtherShares(format!(
                "{name} is a part of `{found}`, not `{stage}`"
            )));
        }
        count = shared.share.count;
        if let Some((other, _)) = by_index.insert(shared.share.index, (dataset, shared.clone())) {
            let other = other.folder().display();
            let share = shared.share;
            return Err(Error::OtherShares(format!("{other} and {name} are both part {share}")));
        }
    }
    let missing: Vec<String> = (1..=count)
        .filter(|index| !by_index.contains_key(index))
        .map(|index| format!("{index}/{count}"))
        .collect();
    if !missing.is_empty() {
        return Err(Error::OtherShares(format!("missing: part {}", missing.join(", "))));
    }
    let shares: Vec<_> = by_index.into_values().collect();
    let same = |a: &(Dataset, Shared), b: &(Dataset, Shared)| {
        let (x, y) = (&a.0.manifest().notes, &b.0.manifest().notes);
        (&x.configuration, x.seed, &x.inputs, a.1.items, a.1.share.count)
            == (&y.configuration, y.seed, &y.inputs, b.1.items, b.1.share.count)
    };
    match shares.windows(2).find(|pair| !same(&pair[0], &pair[1])) {
        None => Ok(shares),
        Some(pair) => Err(Error::OtherShares(format!(
            "{} and {} were made with other settings or from other inputs",
            pair[0].0.folder().display(),
            pair[1].0.folder().display()
        ))),
    }
}

/// What the shares say of their making, together.
fn joined(shares: &[(Dataset, Shared)]) -> Notes {
    let mut notes = Notes::default();
    for (dataset, _) in shares {
        let of_share = &dataset.manifest().notes;
        notes.inputs.clone_from(&of_share.inputs);
        notes.configuration.clone_from(&of_share.configuration);
        notes.seed = of_share.seed;
        for (tool, version) in &of_share.tools {
            match notes.tools.get_mut(tool) {
                None => {
                    notes.tools.insert(tool.clone(), version.clone());
                }
                Some(known) if known.split("; ").any(|one| one == version) => {}
                Some(known) => *known = format!("{known}; {version}"),
            }
        }
        notes.hosts.extend(dataset.manifest().hosts());
    }
    notes.hosts.sort();
    notes.hosts.dedup();
    notes
}

use super::{Context, Done, Facts, Share, Stage, Unit, Units, run::conclude, units::OPEN};
use crate::{Builder, Dataset, Error, Input, Notes, Row};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::{
    cmp::Reverse,
    collections::{BTreeMap, BinaryHeap, binary_heap::PeekMut},
    iter::Peekable,
    marker::PhantomData,
    path::PathBuf,
    time::Instant,
    vec::IntoIter,
};

/// Units that stand in one part of the unfinished data set, at most, and rows: where the order is another than that of
/// the items, a part is read again for nearly each of its units.
const TOGETHER: usize = 256;
const ROWS_TOGETHER: u64 = 1024;

/// What the manifest of one share says, so that the shares can be joined.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Shared {
    /// The stage's name.
    pub stage: String,
    /// Which share it is, of how many.
    pub share: Share,
    /// Whether its items are those of some of the input's rows, and not those of some keys.
    #[serde(default)]
    pub is_by_rows: bool,
    /// Items of the whole job.
    pub items: u64,
    /// Items of this share that were not begun because the time was up.
    pub left: u64,
    /// What of the input is no item of any share.
    #[serde(default)]
    pub left_out: BTreeMap<String, u64>,
    /// What the stage counts beside its rows, in JSON: a text takes less memory than what it says.
    pub facts: Value,
    /// The items of this share, in the order of their rows.
    #[serde(with = "listed")]
    pub units: Vec<Unit>,
}

/// Units as one text: of a manifest, each object becomes a tree in memory before it is a unit.
mod listed {
    use super::Unit;
    use serde::{
        Deserializer, Serializer,
        de::{SeqAccess, Visitor},
        ser::Error as _,
    };
    use std::fmt;

    pub(super) fn serialize<S: Serializer>(units: &[Unit], to: S) -> Result<S::Ok, S::Error> {
        let rows: Vec<_> =
            units.iter().map(|unit| (&unit.key, unit.position, unit.items, unit.rows)).collect();
        to.serialize_str(&serde_json::to_string(&rows).map_err(S::Error::custom)?)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Unit>, D::Error> {
        from.deserialize_any(Listed)
    }

    struct Listed;

    impl<'de> Visitor<'de> for Listed {
        type Value = Vec<Unit>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a list of units")
        }

        fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Vec<Unit>, E> {
            let rows: Vec<(String, u64, u64, u64)> =
                serde_json::from_str(text).map_err(E::custom)?;
            let unit = |(key, position, items, rows)| Unit {
                key,
                position,
                items,
                rows,
                part: 0,
                offset: 0,
            };
            Ok(rows.into_iter().map(unit).collect())
        }

        /// As they were written before.
        fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<Unit>, A::Error> {
            let mut units = Vec::new();
            while let Some(unit) = list.next_element()? {
                units.push(unit);
            }
            Ok(units)
        }
    }
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
    let mut shares = in_order(S::NAME, shares)?;
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
    for (dataset, shared) in &mut shares {
        builder.remember(&dataset.manifest().sandbox)?;
        let counted = match shared.facts.take() {
            Value::String(text) => serde_json::from_str(&text),
            // As they were written before.
            other => serde_json::from_value(other),
        };
        facts.absorb(counted.map_err(|error| {
            Error::shard(dataset.folder(), format!("its counts cannot be read: {error}"))
        })?);
    }
    let (items, left) = (shares[0].1.items, shares.iter().map(|(_, shared)| shared.left).sum());
    let left_out = std::mem::take(&mut shares[0].1.left_out);
    let (mut units, mut parts) = (Vec::new(), Vec::new());
    // Shares of many are brought together in groups, so that those that lie among each other are never more than are
    // held open.
    let at_a_time = OPEN.max(shares.len().div_ceil(OPEN));
    for (group, shares) in shares.chunks_mut(at_a_time).enumerate() {
        let mut among = Among::new(shares)?;
        for chunk in 0.. {
            let of_chunk = among.units();
            if of_chunk.is_empty() {
                break;
            }
            if context.cancel.is_cancelled() {
                let (done, kept) = (units.len() as u64, builder.unfinished().to_owned());
                return Err(Error::Cancelled { units: S::UNITS, done, kept }.into());
            }
            let name = format!("group {group} {chunk}");
            let counts = of_chunk.iter().map(|(_, unit)| unit.rows);
            match builder.has(&name) {
                true => among.rows(&of_chunk).try_for_each(|row| row.map(drop))?,
                false => builder.add_counted(&name, counts, among.rows(&of_chunk))?,
            }
            context.progress.advance(of_chunk.len() as u64);
            let mut offset = 0;
            for (_, unit) in of_chunk {
                let rows = unit.rows;
                units.push(Unit { part: parts.len(), offset, ..unit });
                offset += rows;
            }
            parts.push(builder.part(&name));
        }
    }
    units.sort_by_key(|unit| unit.position);
    let elsewhere = context.elsewhere.clone();
    let units = Units { units, parts, left, elsewhere, row: PhantomData };
    if units.items() + left != items {
        return Err(Error::OtherShares("they do not hold every item once".to_owned()).into());
    }
    let settings = settings.clone();
    let summary = conclude::<S>(builder, &settings, facts, &units, notes)?;
    context.progress.end();
    Ok(Done { summary, seconds: started.elapsed().as_secs_f64(), left_out })
}

type Rows<T> = Box<dyn Iterator<Item = Result<T, Error>>>;

/// Shares, read through by the places of their items.
struct Among<T> {
    shares: Vec<(Peekable<IntoIter<Unit>>, Rows<T>)>,
    /// The place of each share's next unit, the least first.
    next: BinaryHeap<Reverse<(u64, usize)>>,
}

impl<T: Row + 'static> Among<T> {
    /// Takes the units out of the shares.
    fn new(shares: &mut [(Dataset, Shared)]) -> Result<Among<T>, Error> {
        let open = |(dataset, shared): &mut (Dataset, Shared)| {
            let units = std::mem::take(&mut shared.units).into_iter().peekable();
            Ok((units, dataset.rows::<T>()?))
        };
        let mut shares: Vec<_> = shares.iter_mut().map(open).collect::<Result<_, Error>>()?;
        let place = |(at, (units, _)): (usize, &mut (Peekable<IntoIter<Unit>>, _))| {
            units.peek().map(|unit| Reverse((unit.position, at)))
        };
        let next = shares.iter_mut().enumerate().filter_map(place).collect();
        Ok(Among { shares, next })
    }

    /// The next units that stand together, each with its share's number.
    fn units(&mut self) -> Vec<(usize, Unit)> {
        let (mut units, mut rows) = (Vec::new(), 0);
        while let Some(mut least) = self.next.peek_mut() {
            let Reverse((position, at)) = *least;
            let of_share = &mut self.shares[at].0;
            let fits = |unit: &Unit| {
                units.is_empty() || units.len() < TOGETHER && rows + unit.rows <= ROWS_TOGETHER
            };
            let Some(unit) = of_share.next_if(fits) else { break };
            match of_share.peek() {
                // A share's own order is that of its rows, whatever the places say.
                Some(next) => *least = Reverse((next.position.max(position), at)),
                None => {
                    PeekMut::pop(least);
                }
            }
            rows += unit.rows;
            units.push((at, unit));
        }
        units
    }

    /// Their rows.
    fn rows<'a>(
        &'a mut self,
        units: &'a [(usize, Unit)],
    ) -> impl Iterator<Item = Result<T, Error>> + 'a {
        let (mut at, mut read) = (0, 0);
        std::iter::from_fn(move || {
            while units.get(at).is_some_and(|(_, unit)| unit.rows == read) {
                (at, read) = (at + 1, 0);
            }
            read += 1;
            self.shares[units.get(at)?.0].1.next()
        })
    }
}

/// The shares by number, all of one job and all there.
fn in_order(stage: &str, shares: Vec<Dataset>) -> Result<Vec<(Dataset, Shared)>, Error> {
    let mut by_index: BTreeMap<u32, (Dataset, Shared)> = BTreeMap::new();
    let mut count = 0;
    for mut dataset in shares {
        let name = dataset.folder().display().to_string();
        let Some(shared) = dataset.take_share() else {
            return Err(Error::OtherShares(format!("{name} was not made with --part")));
        };
        if shared.stage != stage {
            let found = &shared.stage;
            return Err(Error::OtherShares(format!(
                "{name} is a part of `{found}`, not `{stage}`"
            )));
        }
        let share = shared.share;
        count = share.count;
        if let Some((other, _)) = by_index.insert(share.index, (dataset, shared)) {
            let other = other.folder().display();
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
        let of = |shared: &Shared| (shared.items, shared.share.count, shared.is_by_rows);
        (&x.configuration, x.seed, &x.inputs, of(&a.1))
            == (&y.configuration, y.seed, &y.inputs, of(&b.1))
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

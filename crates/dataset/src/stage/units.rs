use super::Elsewhere;
use crate::{Error, Result, Row, reader::rows_of};
use serde::{Deserialize, Serialize};
use std::{marker::PhantomData, path::PathBuf, sync::Arc};

/// An item that was worked on, and where its rows are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unit {
    /// The item's key.
    pub key: String,
    /// Its place among all items of the job, from 0.
    pub position: u64,
    /// How many items have this key.
    pub items: u64,
    /// How many rows it has.
    pub rows: u64,
    #[serde(skip)]
    pub(super) part: usize,
    #[serde(skip)]
    pub(super) offset: u64,
}

/// The rows of all items of a job, on disk: they may not fit in memory together.
#[derive(Debug)]
pub struct Units<T> {
    pub(super) units: Vec<Unit>,
    pub(super) parts: Vec<PathBuf>,
    /// Items that were not begun because the time was up.
    pub(super) left: u64,
    /// Where rows are compared that are too many to be compared here.
    pub(super) elsewhere: Option<Arc<dyn Elsewhere>>,
    pub(super) row: PhantomData<fn() -> T>,
}

impl<T: Row + 'static> Units<T> {
    /// The units, in the order of the items.
    #[must_use]
    pub fn all(&self) -> &[Unit] {
        &self.units
    }

    /// Items read, with those that are equal to others.
    #[must_use]
    pub fn items(&self) -> u64 {
        self.units.iter().map(|unit| unit.items).sum()
    }

    /// Items that were not begun because the time was up.
    #[must_use]
    pub fn left(&self) -> u64 {
        self.left
    }

    /// All rows, each with its unit, in the order of the items.
    ///
    /// # Errors
    /// Items: when they cannot be read.
    pub fn rows(&self) -> impl Iterator<Item = Result<(&Unit, T)>> {
        self.views()
    }

    /// The same as rows of another type: one with a few of the columns, say.
    ///
    /// # Errors
    /// Items: when they cannot be read.
    pub fn views<K: Row + 'static>(&self) -> impl Iterator<Item = Result<(&Unit, K)>> {
        self.views_in((0..self.units.len()).collect())
    }

    /// The rows of the units at `order`, in this order. Near to that of the items it costs least.
    ///
    /// # Errors
    /// Items: when they cannot be read.
    pub fn rows_in(&self, order: Vec<usize>) -> impl Iterator<Item = Result<(&Unit, T)>> {
        self.views_in(order)
    }

    /// The same as rows of another type.
    ///
    /// # Errors
    /// Items: when they cannot be read.
    pub fn views_in<K: Row + 'static>(
        &self,
        order: Vec<usize>,
    ) -> impl Iterator<Item = Result<(&Unit, K)>> {
        let mut totals = vec![0; self.parts.len()];
        for unit in &self.units {
            totals[unit.part] += unit.rows;
        }
        let (units, parts) = (&self.units, &self.parts);
        InOrder { units, parts, totals, order: order.into_iter(), unit: None, open: Vec::new() }
    }
}

/// Parts that are held open at a time: so many that lie among each other are read through once. Each holds a batch of
/// rows.
pub(super) const OPEN: usize = 64;

/// Rows of units in some order: units that lie in one part one behind the other are read in one go.
struct InOrder<'a, T> {
    units: &'a [Unit],
    parts: &'a [PathBuf],
    /// The rows of each part.
    totals: Vec<u64>,
    order: std::vec::IntoIter<usize>,
    /// The unit that is being read, and how many of its rows are to come.
    unit: Option<(&'a Unit, u64)>,
    /// The parts that are open; the last is the one that is being read.
    open: Vec<Open<T>>,
}

/// A part that is open.
struct Open<T> {
    part: usize,
    /// How many of its rows were read.
    read: u64,
    rows: Box<dyn Iterator<Item = Result<T>>>,
}

impl<'a, T: Row + 'static> InOrder<'a, T> {
    fn open(&mut self, unit: &Unit) {
        let found = self.open.iter().position(|open| open.part == unit.part);
        let found = found.map(|at| self.open.remove(at)).filter(|open| open.read <= unit.offset);
        let mut open = found.unwrap_or_else(|| {
            if self.open.len() == OPEN {
                self.open.remove(0);
            }
            let rows = Box::new(rows_of(vec![self.parts[unit.part].clone()]));
            Open { part: unit.part, read: 0, rows }
        });
        for _ in open.read..unit.offset {
            open.rows.next();
        }
        open.read = unit.offset;
        self.open.push(open);
    }
}

impl<'a, T: Row + 'static> Iterator for InOrder<'a, T> {
    type Item = Result<(&'a Unit, T)>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.unit.is_none_or(|(_, left)| left == 0) {
            // What is read through holds no memory.
            self.open.pop_if(|open| open.read >= self.totals[open.part]);
            let unit = &self.units[self.order.next()?];
            self.unit = Some((unit, unit.rows));
            if unit.rows > 0 {
                self.open(unit);
            }
        }
        let (unit, left) = self.unit.as_mut()?;
        *left -= 1;
        let open = self.open.last_mut()?;
        open.read += 1;
        let row = open.rows.next().unwrap_or_else(|| {
            let part = &self.parts[unit.part];
            Err(Error::shard(part, "fewer rows than it had"))
        });
        Some(row.map(|row| (*unit, row)))
    }
}

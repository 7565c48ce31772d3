//! Families of so many programs that a cluster compares their signatures, and how many different hashes there are.

use super::{
    Units,
    elsewhere::{Count, Edge, Elsewhere, Hashed, Question, Rooted, Scratch, Signed},
};
use crate::{
    Error, Result, Row, Signatures,
    family::{BANDS, Grouping},
    reader::rows_of,
};
use std::{borrow::Cow, collections::HashSet, ops::Range, path::PathBuf, sync::Arc};

/// Bands that are looked at together. The first find most families; of programs that are known to be one, nothing is
/// sent around any more.
const ROUNDS: [Range<usize>; 3] = [0..2, 2..8, 8..BANDS];

/// Hashes that are written at a time.
const AT_A_TIME: usize = 1 << 20;

impl<T: Row + 'static> Units<T> {
    /// Of each signature the index of its family's first member, as [`families()`](crate::families()) has it.
    ///
    /// # Errors
    /// When signatures cannot be read, or comparing them failed.
    pub fn families(&self, signatures: &Signatures) -> Result<Vec<usize>> {
        let many = signatures.len() as u64;
        match self.elsewhere.as_ref().filter(|elsewhere| many > elsewhere.most_here()) {
            None => signatures.families().map_err(Error::Signatures),
            Some(elsewhere) => families(elsewhere.as_ref(), signatures),
        }
    }

    /// Begin to count different hashes.
    #[must_use]
    pub fn distinct(&self) -> Distinct {
        Distinct { elsewhere: self.elsewhere.clone(), held: HashSet::new(), written: None }
    }
}

/// The same by a cluster, however many there are.
///
/// # Errors
/// As [`Units::families`].
pub fn families(elsewhere: &dyn Elsewhere, signatures: &Signatures) -> Result<Vec<usize>> {
    let folder = Scratch::of(elsewhere, "families")?;
    let rows = signatures.all().zip(0..).map(|(one, place)| {
        let signature = one.map(Cow::into_owned).map_err(Error::Signatures)?.to_bytes();
        Ok(Signed { place, signature })
    });
    let files = folder.write("signatures", rows)?;
    let mut grouping = Grouping::of(signatures.len());
    for (round, bands) in ROUNDS.into_iter().enumerate() {
        let roots = match round {
            // Each is its own.
            0 => Vec::new(),
            _ => {
                let rows = grouping.roots().iter().zip(0..);
                let rows = rows.map(|(root, place)| Ok(Rooted { place, root: u64::from(*root) }));
                folder.write(&format!("roots-{round}"), rows)?
            }
        };
        let out = folder.file(&format!("edges-{round}"));
        let question = Question::Near { signatures: files.clone(), roots, bands };
        elsewhere.answer(question, &out).map_err(Error::Compare)?;
        for edge in rows_of::<Edge>(vec![out.clone()]) {
            let Edge { one, other } = edge?;
            let place = |place: u64| {
                let place =
                    u32::try_from(place).ok().filter(|at| (*at as usize) < signatures.len());
                place.ok_or_else(|| Error::shard(&out, "it names a program that there is not"))
            };
            grouping.unite(place(one)?, place(other)?);
        }
    }
    Ok(grouping.families())
}

/// Counts different hashes: in memory, or by a cluster where there are more than that compares here.
pub struct Distinct {
    elsewhere: Option<Arc<dyn Elsewhere>>,
    held: HashSet<u64>,
    written: Option<(Scratch, Vec<PathBuf>)>,
}

impl Distinct {
    /// Add one.
    ///
    /// # Errors
    /// When there is no room for files.
    pub fn push(&mut self, hash: u64) -> Result<()> {
        self.held.insert(hash);
        let Some(elsewhere) = &self.elsewhere else { return Ok(()) };
        let most = match self.written {
            None => usize::try_from(elsewhere.most_here()).unwrap_or(usize::MAX),
            Some(_) => AT_A_TIME,
        };
        if self.held.len() > most { self.write() } else { Ok(()) }
    }

    fn write(&mut self) -> Result<()> {
        let Some(elsewhere) = &self.elsewhere else { return Ok(()) };
        let (folder, files) = match &mut self.written {
            Some(written) => written,
            none => none.insert((Scratch::of(elsewhere.as_ref(), "hashes")?, Vec::new())),
        };
        let rows = self.held.drain().map(|hash| Ok(Hashed { hash }));
        files.extend(folder.write(&format!("hashes-{}", files.len()), rows)?);
        Ok(())
    }

    /// How many different ones there were.
    ///
    /// # Errors
    /// When comparing them failed.
    pub fn count(mut self) -> Result<u64> {
        if self.written.is_some() {
            self.write()?;
        }
        let (Some(elsewhere), Some((folder, hashes))) = (&self.elsewhere, self.written.take())
        else {
            return Ok(self.held.len() as u64);
        };
        let out = folder.file("count");
        elsewhere.answer(Question::Distinct { hashes }, &out).map_err(Error::Compare)?;
        let count = rows_of::<Count>(vec![out.clone()]).next();
        Ok(count.ok_or_else(|| Error::shard(&out, "it holds no count"))??.count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Signature, stage::elsewhere::stand_in::Other};
    use std::marker::PhantomData;

    fn units(elsewhere: Option<Arc<dyn Elsewhere>>) -> Units<Hashed> {
        Units { units: Vec::new(), parts: Vec::new(), left: 0, elsewhere, row: PhantomData }
    }

    #[test]
    fn families_that_are_found_elsewhere_are_those_that_are_found_here() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("families");
        for count in [0, 1, 300_u32] {
            let mut signatures = Signatures::default();
            for n in 0..count {
                // Near to those around it, and to nothing else.
                let words: Vec<String> =
                    (0..90).map(|at| (n / 40 * 1000 + at + n % 9).to_string()).collect();
                signatures.push(Signature::of(words.iter().map(String::as_str))).unwrap();
            }
            let here = units(None).families(&signatures).unwrap();
            assert_eq!(units(Some(Other::at(&folder))).families(&signatures).unwrap(), here);
            assert!(!folder.exists());
            let different: HashSet<usize> = here.into_iter().collect();
            assert!(different.len() < count as usize || count < 2);
        }
    }

    #[test]
    fn hashes_are_counted_once_here_and_elsewhere() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("hashes");
        for elsewhere in [None, Some(Other::at(&folder))] {
            let mut distinct = units(elsewhere).distinct();
            for n in 0..5000_u64 {
                distinct.push(n % 77).unwrap();
            }
            assert_eq!(distinct.count().unwrap(), 77);
        }
        assert_eq!(units(Some(Other::at(&folder))).distinct().count().unwrap(), 0);
        assert!(!folder.exists());
    }
}

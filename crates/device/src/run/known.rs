//! What was found out about texts, kept in memory.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

/// Texts that are remembered at most; then all are forgotten.
const MOST: usize = 1024;
/// Bytes of a text of which anything is remembered.
const LONGEST: usize = 1 << 16;

/// What is known of one text; locked while somebody finds it out.
type Place<T> = Arc<Mutex<Option<T>>>;

/// What is known of texts, by keys.
pub(super) struct Known<T> {
    places: Mutex<BTreeMap<String, Place<T>>>,
}

impl<T> Default for Known<T> {
    fn default() -> Known<T> {
        Known { places: Mutex::default() }
    }
}

impl<T: Clone> Known<T> {
    /// What is known of a text of so many bytes, or else what `find` finds out; threads that ask for the same meanwhile wait
    /// for it. It is remembered where it `lasts`.
    ///
    /// # Errors
    /// As `find`; nothing is remembered then.
    pub(super) fn of<E>(
        &self,
        key: &str,
        bytes: usize,
        find: impl FnOnce() -> Result<T, E>,
        lasts: impl FnOnce(&T) -> bool,
    ) -> Result<T, E> {
        if bytes > LONGEST {
            return find();
        }
        let place = self.place(key);
        let mut known = place.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = &*known {
            return Ok(known.clone());
        }
        let found = find()?;
        if lasts(&found) {
            *known = Some(found.clone());
        }
        Ok(found)
    }

    fn place(&self, key: &str) -> Place<T> {
        let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        if places.len() >= MOST && !places.contains_key(key) {
            places.clear();
        }
        Arc::clone(places.entry(key.to_owned()).or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lasts_is_found_out_once() {
        let known = Known::default();
        let find = |found: u32| move || Ok::<u32, ()>(found);
        assert_eq!(known.of("a", 1, find(1), |_| true), Ok(1));
        assert_eq!(known.of("a", 1, find(2), |_| true), Ok(1));
        assert_eq!(known.of("b", 1, find(3), |_| false), Ok(3));
        assert_eq!(known.of("b", 1, find(4), |_| true), Ok(4));
        assert_eq!(known.of("c", 1, || Err(5), |_| true), Err(5));
        assert_eq!(known.of("c", 1, || Ok::<u32, u32>(6), |_| true), Ok(6));
        assert_eq!(known.of("d", LONGEST + 1, find(7), |_| true), Ok(7));
        assert_eq!(known.of("d", LONGEST + 1, find(8), |_| true), Ok(8));
    }

    #[test]
    fn all_is_forgotten_where_it_is_too_much() {
        let known = Known::default();
        for number in 0..=MOST {
            assert_eq!(
                known.of(&number.to_string(), 1, || Ok::<usize, ()>(number), |_| true),
                Ok(number)
            );
        }
        assert_eq!(known.of("0", 1, || Ok::<usize, ()>(7), |_| true), Ok(7));
    }
}

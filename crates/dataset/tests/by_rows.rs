//! Shares of a data set's rows: together they are one run, and each reads little of what the others work on.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use stampmill_dataset::{
    self as dataset, Builder, Dataset, Error, Input, Notes, Row,
    stage::{self, ByRows, Context, Facts, Finish, Items, Numbered, Share, Stage, Units, Worked},
};
use std::{collections::BTreeMap, ops::Range, path::Path};

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Page {
    name: String,
    text: String,
}
impl Row for Page {
    const SCHEMA: &'static str = "page";
    const VERSION: u32 = 1;
    const SHARD_ROWS: usize = 5;
}

/// A page without its text.
#[derive(Serialize, Deserialize)]
struct Title {
    name: String,
}
impl Row for Title {
    const SCHEMA: &'static str = "page";
    const VERSION: u32 = 1;
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Length {
    name: String,
    letters: u64,
}
impl Row for Length {
    const SCHEMA: &'static str = "length";
    const VERSION: u32 = 1;
}

#[derive(Default, Serialize, Deserialize)]
struct Met(u64, u64);
impl Facts for Met {
    fn absorb(&mut self, Met(new, again): Met) {
        self.0 += new;
        self.1 += again;
    }
}

/// Counts letters of pages; `by_rows` says how its shares are told.
struct Measure {
    pages: Dataset,
    by_rows: bool,
}

impl Stage for Measure {
    const NAME: &'static str = "measure";
    const UNITS: &'static str = "pages";
    type Item = Page;
    type Row = Length;
    type Facts = Met;
    type Summary = [u64; 2];
    type Worker = ();
    type Error = Error;

    fn settings(&self) -> Value {
        json!({})
    }

    fn inputs(&self) -> Result<Vec<Input>, Error> {
        Ok(vec![Input { name: "pages".into(), hash: self.pages.manifest().identity.clone() }])
    }

    fn items(&self) -> Result<Items<'_, Measure>, Error> {
        Ok(Items { total: Some(self.pages.manifest().rows), all: self.pages.rows()? })
    }

    fn items_by_rows(&self, share: Share) -> Result<Option<ByRows<'_, Measure>>, Error> {
        if !self.by_rows {
            return Ok(None);
        }
        let rows = self.pages.manifest().rows;
        let own = share.of_rows(rows);
        let titles = |rows: Range<u64>| {
            let titles = self.pages.rows_in::<Title>(rows)?;
            let page = |Title { name }| Page { name, text: String::new() };
            Ok::<_, Error>(titles.map(move |title| title.map(page)))
        };
        let all = titles(0..own.start)?.chain(self.pages.rows_in::<Page>(own.clone())?);
        let all = all.chain(titles(own.end..rows)?).zip(0..);
        let all: Numbered<'_, Page, Error> = Box::new(all.map(|(page, row)| Ok((row, page?))));
        Ok(Some(ByRows { own, all }))
    }

    fn key(&self, page: &Page) -> String {
        page.name.clone()
    }

    fn worker(&self) -> Result<(), Error> {
        Ok(())
    }

    fn work(&self, (): &mut (), pages: &[Page]) -> Result<Vec<Worked<Length>>, Error> {
        let length = |page: &Page| {
            assert!(!page.text.is_empty(), "{} was not read", page.name);
            Worked::Rows(vec![Length { name: page.name.clone(), letters: page.text.len() as u64 }])
        };
        Ok(pages.iter().map(length).collect())
    }

    fn observe(&self, _: &Page, rows: Option<&[Length]>, Met(new, again): &mut Met) {
        *new += u64::from(rows.is_some());
        *again += u64::from(rows.is_none());
    }

    fn finish<'a>(
        _: &'a Value,
        Met(new, again): Met,
        units: &'a Units<Length>,
    ) -> Result<Finish<'a, Length, [u64; 2]>, Error> {
        let rows = units.rows().count() as u64;
        Ok(Finish::all(BTreeMap::from([("accepted".to_owned(), rows)]), [new, again]))
    }
}

/// Pages whose names come again after a while; of these the first is worked on.
fn pages(folder: &Path, count: u64) -> Dataset {
    let builder = Builder::<Page>::create(folder, false, &"").expect("it can be read and written");
    let page = |number: u64| {
        let text =
            (0..400).map(|line| dataset::content_hash(format!("{number} {line}").as_bytes()));
        Page { name: format!("page {}", number * number % 197), text: text.collect() }
    };
    builder.finish((0..count).map(page), Notes::default()).expect("it can be read and written")
}

/// Bytes that this process has read so far, as its kernel counts them.
fn read_so_far() -> u64 {
    let text = std::fs::read_to_string("/proc/self/io").expect("it can be read and written");
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("rchar: "))
        .expect("it can be read and written");
    line.parse().expect("it can be read and written")
}

fn shares(pages: &Dataset, by_rows: bool, count: u32, home: &Path) -> (Value, u64) {
    let stage = Measure { pages: pages.clone(), by_rows };
    let before = read_so_far();
    let parts = (1..=count).map(|index| {
        let out = home.join(format!("{by_rows}-{index}-of-{count}"));
        let share = Some(Share { index, count });
        stage::run(&stage, &Context { share, ..Context::new(&out) })
            .expect("it can be read and written");
        out
    });
    let parts: Vec<_> = parts.collect();
    let read = read_so_far() - before;
    let out = home.join(format!("{by_rows}-{count}"));
    let done =
        stage::merge::<Measure>(&parts, &Context::new(&out)).expect("it can be read and written");
    let rows: Vec<Length> = Dataset::open(&out)
        .expect("it can be read and written")
        .rows()
        .expect("it can be read and written")
        .collect::<Result<_, _>>()
        .expect("it can be read and written");
    (json!([rows, done.summary]), read)
}

// One test: what a process reads is counted for all of its threads.
#[test]
fn shares_of_rows_are_one_run_and_read_little_twice() {
    let home = tempfile::tempdir().unwrap();
    let pages = pages(&home.path().join("pages"), 200);
    let stage = Measure { pages: pages.clone(), by_rows: true };
    let alone = home.path().join("alone");
    let done = stage::run(&stage, &Context::new(&alone)).unwrap();
    let rows: Vec<Length> =
        Dataset::open(&alone).unwrap().rows().unwrap().collect::<Result<_, _>>().unwrap();
    let [new, again] = done.summary;
    assert!(new == rows.len() as u64 && again > 50 && new + again == 200);
    let alone = json!([rows, done.summary]);

    for count in [1, 3, 8, 30] {
        let (by_rows, _) = shares(&pages, true, count, home.path());
        assert_eq!(by_rows, alone, "{count} shares");
    }
    let (by_keys, read_by_keys) = shares(&pages, false, 8, &home.path().join("keys"));
    assert_eq!(by_keys, alone);
    let (_, read_by_rows) = shares(&pages, true, 8, &home.path().join("again"));
    println!("8 shares of rows read {read_by_rows} bytes, of keys {read_by_keys}");
    assert!(
        2 * read_by_rows < read_by_keys,
        "8 shares of rows read {read_by_rows} bytes, of keys {read_by_keys}"
    );

    // Shares of both kinds are not joined: an item would be in none of them, or twice.
    let half = |by_rows: bool, index: u32| {
        let out = home.path().join(format!("half-{by_rows}"));
        let stage = Measure { pages: pages.clone(), by_rows };
        let share = Some(Share { index, count: 2 });
        stage::run(&stage, &Context { share, ..Context::new(&out) }).unwrap();
        out
    };
    let halves = [half(true, 1), half(false, 2)];
    let refused = stage::merge::<Measure>(&halves, &Context::new(home.path().join("none")));
    assert!(matches!(refused, Err(Error::OtherShares(_))), "{:?}", refused.err());
}

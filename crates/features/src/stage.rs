//! The stage that describes programs in feature spaces.

use crate::{Error, Extractor, Report, Row};
use dataset::{
    Code, Found, Input, Language, Placed, Program, Programs, Rejected,
    stage::{ByRows, Finish, Items, Share, Stage, Units, Worked},
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};

/// Makes a data set of schema `features`, with one row for each program or each of its functions.
#[derive(Debug)]
pub struct Features {
    extractor: Extractor,
    programs: Programs,
    inputs: Vec<Input>,
    whole: Input,
}

impl Features {
    /// Have `extractor` describe `programs`; `name` is what a user calls them.
    ///
    /// # Errors
    /// When a program cannot be read.
    pub fn new(extractor: Extractor, programs: Programs, name: &str) -> Result<Features, Error> {
        let inputs = programs.inputs(name)?;
        let whole = Input { name: name.to_owned(), hash: programs.identity_of(&inputs) };
        Ok(Features { extractor, programs, inputs, whole })
    }
}

/// A program to describe, or what stands in the place of one: an item of [`Features`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Item {
    /// Hash of path, name and content. Of equal items all but the first are numbered.
    pub id: String,
    /// Path of the program as its data set or folder has it.
    pub path: String,
    /// The data set's name for the program; empty for files.
    pub name: String,
    /// Name of its language; empty for what is no program.
    pub language: String,
    /// Its content, where that is text.
    pub text: Option<String>,
    /// Its content, where that is not.
    #[serde(with = "serde_bytes")]
    pub bytes: Vec<u8>,
    /// Why it is no program, or empty.
    pub verdict: String,
    /// What goes with that verdict.
    pub detail: String,
}

impl dataset::Row for Item {
    const SCHEMA: &'static str = "program";
    const VERSION: u32 = 1;
}

impl Item {
    fn of(found: Found, known: &mut HashMap<String, u64>) -> Item {
        match found {
            Found::Program(program) => {
                let content = program.code.hash();
                Item::of_program(program, &content, known)
            }
            Found::Rejected(Rejected { path, verdict }) => {
                let (verdict, detail) = (verdict.name.into_owned(), verdict.detail);
                let item = Item { path, verdict, detail, ..Item::default() };
                item.numbered("", known)
            }
        }
    }

    /// `content` is the hash of its code.
    fn of_program(program: Program, content: &str, known: &mut HashMap<String, u64>) -> Item {
        let name = program.known_as().to_owned();
        let (text, bytes) = match program.code {
            Code::Text(text) => (Some(text), Vec::new()),
            Code::Bytes(bytes) => (None, bytes),
        };
        let language = program.language.name().to_owned();
        let path = program.path;
        let item = Item { path, name, language, text, bytes, ..Item::default() };
        item.numbered(content, known)
    }

    fn numbered(self, content: &str, known: &mut HashMap<String, u64>) -> Item {
        let item = self;
        let pieces = [&item.path, &item.name, content, &item.verdict, &item.detail];
        let id = dataset::content_hash_of(pieces.map(|piece: &str| piece.as_bytes()));
        let count = known.entry(id.clone()).or_default();
        *count += 1;
        let id = if *count == 1 { id } else { format!("{id} {count}") };
        Item { id, ..item }
    }

    /// `None` for what is no program.
    fn program(&self) -> Option<Program> {
        let language: Language = self.language.parse().ok()?;
        let code = match &self.text {
            Some(text) => Code::Text(text.clone()),
            None => Code::Bytes(self.bytes.clone()),
        };
        let (path, name) = (self.path.clone(), self.name.clone());
        Some(Program { path, name, language, code, ..Program::default() })
    }

    fn rejected(&self) -> Row {
        let (path, verdict, detail) =
            (self.path.clone(), self.verdict.clone(), self.detail.clone());
        Row { path, verdict, detail, ..Row::default() }
    }
}

impl Stage for Features {
    const NAME: &'static str = "features";
    const UNITS: &'static str = "programs";
    type Item = Item;
    type Row = Row;
    type Facts = ();
    type Summary = Report;
    type Worker = ();
    type Error = Error;

    fn settings(&self) -> Value {
        self.extractor.settings()
    }

    fn inputs(&self) -> Result<Vec<Input>, Error> {
        Ok(vec![self.whole.clone()])
    }

    fn inputs_in_detail(&self) -> Result<Vec<Input>, Error> {
        Ok(self.inputs.clone())
    }

    fn left_out(&self) -> Result<BTreeMap<String, u64>, Error> {
        Ok(self.programs.left_out()?)
    }

    fn items(&self) -> Result<Items<'_, Features>, Error> {
        let mut known = HashMap::new();
        let found = self.programs.found()?;
        let all = found.map(move |found| Ok(Item::of(found?, &mut known)));
        Ok(Items { total: Some(self.programs.len()), all: Box::new(all) })
    }

    fn items_by_rows(&self, share: Share) -> Result<Option<ByRows<'_, Features>>, Error> {
        let Some(placed) = self.programs.by_rows(share)? else { return Ok(None) };
        let mut known = HashMap::new();
        let all = placed.all.map(move |placed| {
            let Placed { row, hash, program } = placed?;
            Ok((row, Item::of_program(program, &hash, &mut known)))
        });
        Ok(Some(ByRows { own: placed.own, all: Box::new(all) }))
    }

    fn key(&self, item: &Item) -> String {
        item.id.clone()
    }

    fn batch_size(&self) -> usize {
        16
    }

    fn size_bytes(&self, item: &Item) -> usize {
        item.text.as_ref().map_or(item.bytes.len(), String::len)
    }

    fn worker(&self) -> Result<(), Error> {
        Ok(())
    }

    fn work(&self, (): &mut (), items: &[Item]) -> Result<Vec<Worked<Row>>, Error> {
        let rows = |item: &Item| {
            Ok(Worked::Rows(match item.program() {
                Some(program) => self.extractor.describe(&program)?,
                None => vec![item.rejected()],
            }))
        };
        items.iter().map(rows).collect()
    }

    fn is_fault(error: &Error) -> bool {
        match error {
            Error::Clang(error) => error.is_fault(),
            Error::Timing(error) => error.is_fault(),
            Error::Reader(_) => true,
            _ => false,
        }
    }

    fn tools(&self) -> BTreeMap<String, String> {
        self.extractor.tools()
    }

    fn finish<'a>(
        _: &'a Value,
        (): (),
        units: &'a Units<Row>,
    ) -> Result<Finish<'a, Row, Report>, Error> {
        let mut report = Report { programs: units.items(), ..Report::default() };
        for row in units.rows() {
            report.add(&row?.1);
        }
        Ok(Finish::all(report.verdicts.clone(), report))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dataset::Verdict;
    use sandbox::Death;

    fn program(code: Code) -> Program {
        let (path, name) = ("a/b.cl".to_owned(), "named".to_owned());
        Program { path, name, language: Language::Cxx, code, ..Program::default() }
    }

    #[test]
    fn a_program_comes_back_out_of_its_item() {
        for code in [Code::Text("int a;".into()), Code::Bytes(vec![1, 2, 3])] {
            let program = program(code);
            let item = Item::of(Found::Program(program.clone()), &mut HashMap::new());
            assert_eq!(item.program(), Some(program));
        }
    }

    #[test]
    fn what_is_no_program_comes_back_as_a_row_with_its_verdict() {
        let verdict = Verdict::new("too-large", "more than 64 MiB");
        let rejected = Found::Rejected(Rejected { path: "a/b.cl".into(), verdict });
        let item = Item::of(rejected, &mut HashMap::new());
        assert_eq!(item.program(), None);
        let row = item.rejected();
        let said = (row.path.as_str(), row.verdict.as_str(), row.detail.as_str());
        assert_eq!(said, ("a/b.cl", "too-large", "more than 64 MiB"));
    }

    #[test]
    fn equal_items_are_numbered() {
        let mut known = HashMap::new();
        let mut id =
            |text: &str| Item::of(Found::Program(program(Code::Text(text.into()))), &mut known).id;
        let (first, other) = (id("int a;"), id("int b;"));
        assert_ne!(first, other);
        assert_eq!([id("int a;"), id("int a;")], [format!("{first} 2"), format!("{first} 3")]);
    }

    #[test]
    fn a_machine_that_fails_the_compiler_is_a_fault_and_a_stopped_run_is_none() {
        let with =
            |death| Error::Clang(clang::Error::CannotStart { worker: "clang".into(), death });
        assert!(Features::is_fault(&with(Death::Machine("no room".into()))));
        assert!(!Features::is_fault(&with(Death::Timeout(7))));
        assert!(!Features::is_fault(&Error::Cancelled { done: 3 }));
    }
}

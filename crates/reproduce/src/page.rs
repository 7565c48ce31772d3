//! A page of tables: ours and theirs, as Markdown and CSV.

use crate::Reproduced;
use serde_json::{Map, Value, json};
use std::fmt::Write;

/// The papers' numbers.
const PUBLISHED: &str = include_str!("../published.csv");

/// A page while it is made.
pub(crate) struct Page {
    recipe: &'static str,
    text: String,
    tables: Map<String, Value>,
    files: Vec<(String, String)>,
    missing: Vec<String>,
}

impl Page {
    pub(crate) fn new(recipe: &'static str, title: &str) -> Page {
        let text = format!(
            "# {title}\n\nRows *in italics* are the paper's, quoted; the others are made of the data sets that were given.\n"
        );
        Page { recipe, text, tables: Map::new(), files: Vec::new(), missing: Vec::new() }
    }

    /// Whether nothing was made.
    pub(crate) fn is_empty(&self) -> bool {
        self.tables.is_empty()
    }

    /// A table: the first column names the row. The paper's rows of that name come first; nothing where there are no rows of
    /// ours.
    pub(crate) fn table(
        &mut self,
        name: &str,
        title: &str,
        header: &[&str],
        ours: Vec<Vec<String>>,
        note: &str,
    ) {
        if ours.is_empty() {
            return;
        }
        let mut header: Vec<&str> = header.to_vec();
        header.push("source");
        let theirs = published(self.recipe, name, &header);
        let mut rows: Vec<(bool, Vec<String>)> =
            theirs.into_iter().map(|row| (true, row)).collect();
        rows.extend(ours.into_iter().map(|mut row| {
            row.push("made here".to_owned());
            (false, row)
        }));
        // Writing to a string does not fail.
        let _ = write!(
            self.text,
            "\n## {title}\n\n| {} |\n|{}\n",
            header.join(" | "),
            "---|".repeat(header.len())
        );
        for (quoted, row) in &rows {
            let cells = row.iter().map(|cell| match (quoted, cell.is_empty()) {
                (_, true) => "–".to_owned(),
                (true, _) => format!("*{}*", cell.replace('|', "\\|")),
                (false, _) => cell.replace('|', "\\|"),
            });
            let _ = writeln!(self.text, "| {} |", cells.collect::<Vec<_>>().join(" | "));
        }
        if !note.is_empty() {
            let _ = write!(self.text, "\n{note}\n");
        }
        let objects: Vec<Value> = rows
            .iter()
            .map(|(_, row)| {
                Value::Object(
                    header
                        .iter()
                        .map(|name| (*name).to_owned())
                        .zip(row.iter().map(|cell| json!(cell)))
                        .collect(),
                )
            })
            .collect();
        self.tables.insert(name.to_owned(), Value::Array(objects));
        self.csv(name, &header, rows.iter().map(|(_, row)| row));
    }

    /// A file of numbers that is too long for the page.
    pub(crate) fn csv<'a>(
        &mut self,
        name: &str,
        header: &[&str],
        rows: impl Iterator<Item = &'a Vec<String>>,
    ) {
        let mut writer = csv::Writer::from_writer(Vec::new());
        let written = writer
            .write_record(header)
            .and_then(|()| rows.into_iter().try_for_each(|row| writer.write_record(row)));
        written.expect("rows have as many cells as the header, and memory takes them");
        let text = writer.into_inner().map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        self.files.push((format!("{name}.csv"), text.expect("memory takes all")));
    }

    /// A picture, and where it stands on the page.
    pub(crate) fn picture(&mut self, name: &str, title: &str, svg: String) {
        let _ = write!(self.text, "\n## {title}\n\n![{title}]({name}.svg)\n");
        self.tables.insert(name.to_owned(), json!(format!("{name}.svg")));
        self.files.push((format!("{name}.svg"), svg));
    }

    /// What was not made, and what would make it.
    pub(crate) fn lacks(&mut self, what: &str, needs: &str) {
        self.missing.push(format!("{what}: {needs}"));
    }

    pub(crate) fn finish(mut self) -> Reproduced {
        if !self.missing.is_empty() {
            self.text += "\n## Not made\n\n";
            for line in &self.missing {
                let _ = writeln!(self.text, "- {line}");
            }
        }
        let numbers =
            json!({"recipe": self.recipe, "tables": self.tables, "not_made": self.missing});
        Reproduced { numbers, text: self.text, files: self.files }
    }
}

/// The paper's rows of a table, in the order of the file: cells that it does not print, or that are not here, are empty.
fn published(recipe: &str, table: &str, header: &[&str]) -> Vec<Vec<String>> {
    let mut rows: Vec<Vec<String>> = Vec::new();
    for record in csv::Reader::from_reader(PUBLISHED.as_bytes()).records() {
        let record = record.expect("our own file is whole");
        let [of, name, row, column, value, source] = [0, 1, 2, 3, 4, 5].map(|at| &record[at]);
        let Some(place) = header.iter().position(|known| *known == column) else { continue };
        if (of, name) != (recipe, table) {
            continue;
        }
        if rows.last().is_none_or(|last| last[0] != row) {
            let mut cells = vec![String::new(); header.len()];
            cells[0] = row.to_owned();
            cells[header.len() - 1] = source.to_owned();
            rows.push(cells);
        }
        rows.last_mut().expect("it was pushed")[place] = value.to_owned();
    }
    rows
}

/// Bytes in megabytes: more would differ with the compiler that wrote them.
pub(crate) fn megabytes(bytes: u64) -> String {
    format!("{:.2} MB", bytes as f64 / 1e6)
}

/// A share in per cent.
pub(crate) fn percent(part: u64, of: u64) -> String {
    match of {
        0 => String::new(),
        _ => format!("{:.1} %", 100.0 * part as f64 / of as f64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_published_value_has_a_source_and_a_table_that_shows_it() {
        let shown: &[(&str, &str, &[&str])] = &[
            ("benchpress", "table1", &crate::benchpress::TABLE1),
            ("benchpress", "figure8", &crate::benchpress::FIGURE8),
            ("pie", "scores", &crate::pie::SCORES),
            ("pie", "table5", &crate::pie::TABLE5),
            ("pie", "data", &crate::pie::DATA),
            ("pie", "table8", &crate::pie::TABLE8),
            (
                "suites",
                "table1",
                &["AMD", "NPB", "NVIDIA", "Parboil", "Polybench", "Rodinia", "SHOC"],
            ),
            ("compile", "table1", &crate::compile::TABLE1),
            ("compile", "table3", &crate::compile::TABLE3),
            ("compile", "sizes", &crate::compile::SIZES),
        ];
        for record in csv::Reader::from_reader(PUBLISHED.as_bytes()).records() {
            let record = record.expect("a row");
            let found = shown.iter().find(|(of, name, _)| *of == &record[0] && *name == &record[1]);
            assert!(
                found.is_some_and(|(_, _, columns)| columns.contains(&&record[3])),
                "{record:?}"
            );
            assert!(record[5].contains("20"), "a year: {record:?}");
        }
    }

    #[test]
    fn theirs_stand_before_ours_and_are_told_apart() {
        let mut page = Page::new("compile", "ComPile");
        assert!(page.is_empty());
        page.table(
            "table1",
            "Table 1",
            &["language", "modules", "bytes left"],
            vec![vec!["a|b".into(), "1".into(), "20 %".into()]],
            "",
        );
        page.lacks("Figure 1", "modules");
        let made = page.finish();
        assert!(made.text.contains("| *ComPile* | – | *66 %* | *ComPile (2023), deduplication of all languages* |\n| a\\|b | 1 | 20 % | made here |"), "{}", made.text);
        assert!(made.text.ends_with("- Figure 1: modules\n"));
        assert_eq!(made.files[0].1.lines().count(), 3);
        assert_eq!(made.numbers["tables"]["table1"][1]["modules"], "1");
    }
}

//! What is wrong with a query, in words of who asks: the engine speaks of its plans and its types.

mod syntax;
mod types;

use crate::{Error, Question};
use arrow::datatypes::{DataType, SchemaRef};
use datafusion::{
    common::{Column, SchemaError, TableReference},
    error::DataFusionError,
    execution::context::SessionContext,
    logical_expr::registry::FunctionRegistry as _,
};
use dataset::{Dataset, near};
use std::{collections::BTreeMap, path::PathBuf};
use syntax::{called, is_text, syntax};
use types::{expression, in_words, misfit, mismatch, value};

/// A column that is called as a word of SQL.
const INTERVAL: &str = "interval";
/// Names that are listed.
const LISTED: usize = 32;
/// Names of a vector's places that are listed.
const NAMED: usize = 12;

/// Functions as other engines call them, and what they are called here.
const ELSEWHERE: [(&str, &str); 9] = [
    ("average", "avg"),
    ("group_concat", "string_agg"),
    ("ifnull", "coalesce"),
    ("isnull", "coalesce"),
    ("len", "length"),
    ("size", "length"),
    ("std", "stddev"),
    ("substring_index", "split_part"),
    ("variance", "var"),
];

/// What a query can name.
pub(crate) struct Named<'a> {
    question: &'a Question,
    /// The tables with their columns.
    tables: Vec<(&'a str, SchemaRef)>,
    functions: Vec<String>,
}

impl<'a> Named<'a> {
    pub(crate) async fn of(context: &SessionContext, question: &'a Question) -> Named<'a> {
        let mut tables = Vec::new();
        for name in question.names() {
            if let Ok(table) = context.table_provider(name).await {
                tables.push((name, table.schema()));
            }
        }
        let functions = [context.udfs(), context.udafs(), context.udwfs()];
        Named { question, tables, functions: functions.into_iter().flatten().collect() }
    }

    /// What the engine refuses, explained; its own words are kept beside.
    pub(crate) fn explained(&self, error: &DataFusionError) -> Error {
        let root = error.find_root();
        let plain = match root {
            DataFusionError::ResourcesExhausted(why) => {
                return Error::Memory { bytes: self.question.memory, why: why.clone() };
            }
            DataFusionError::SQL(why, _) => syntax(&self.question.sql, &why.to_string()),
            DataFusionError::SchemaError(why, _) => self.schema(why),
            DataFusionError::ArrowError(why, _) => value(why),
            DataFusionError::NotImplemented(what) => {
                let told = self.planned(&root.to_string());
                let hint = if what == "TOP" { "; LIMIT N takes the first rows" } else { "" };
                told.unwrap_or_else(|| {
                    format!("the engine does not do this: {}{hint}", first(what))
                })
            }
            _ => self.planned(&root.to_string()).unwrap_or_else(|| cannot(&root.message())),
        };
        Error::Query { plain, engine: error.strip_backtrace() }
    }

    /// What the planner says, as far as it is known.
    fn planned(&self, said: &str) -> Option<String> {
        self.no_table(said)
            .or_else(|| self.no_function(said))
            .or_else(|| self.interval(said))
            .or_else(|| self.by_name(said))
            .or_else(|| self.no_number(said))
            .or_else(|| self.show(said))
            .or_else(|| ungrouped(said))
            .or_else(|| mismatch(said))
            .or_else(|| misfit(said))
            .or_else(|| expression(said))
            .or_else(|| refused(said))
    }

    fn schema(&self, error: &SchemaError) -> String {
        match error {
            SchemaError::FieldNotFound { field, valid_fields } => {
                self.no_column(field, valid_fields)
            }
            SchemaError::AmbiguousReference { field } => self.ambiguous(&field.name),
            SchemaError::DuplicateQualifiedField { qualifier, .. } => format!(
                "two tables of the query are called `{}`: call one otherwise by AS",
                qualifier.table()
            ),
            SchemaError::DuplicateUnqualifiedField { name } => twice(name),
        }
    }

    /// A column that none of the query's tables has.
    fn no_column(&self, wanted: &Column, valid: &[Column]) -> String {
        if let Some(told) = self.interval("") {
            return told;
        }
        let name = wanted.name.as_str();
        let table = wanted.relation.as_ref().map(TableReference::table);
        let mut tables: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for column in valid {
            let of = column.relation.as_ref().map_or("", TableReference::table);
            let names: &mut Vec<&str> = tables.entry(of).or_default();
            if !names.contains(&column.name.as_str()) {
                names.push(&column.name);
            }
        }
        if let Some(table) = table {
            if let Some(number) = self.number(name, Some(table)) {
                return number;
            }
            if !tables.is_empty() && !tables.contains_key(table) {
                let there: Vec<&str> = tables.into_keys().filter(|name| !name.is_empty()).collect();
                return format!(
                    "`{table}` of `{table}.{name}` is no table of the query{}",
                    match there.as_slice() {
                        [] => String::new(),
                        some => format!(", which has {}", some.join(" and ")),
                    }
                );
            }
            tables.retain(|of, _| *of == table);
        }
        let names: Vec<&str> = tables.values().flatten().copied().collect();
        if let Some(exact) =
            names.iter().find(|one| **one != name && one.eq_ignore_ascii_case(name))
        {
            return format!(
                "there is no column `{name}`: capital letters are kept between double quotes, \"{exact}\""
            );
        }
        let near = near(name, names.iter().copied());
        if near.is_none() {
            if let Some(number) = self.number(name, None) {
                return number;
            }
            if is_text(name, &self.question.sql) {
                return format!(
                    "there is no column `{name}`; a text stands between single quotes: '{name}'"
                );
            }
        }
        let near = near.map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
        let there = match tables.len() {
            0 => "no column can stand there, or the query has no FROM".to_owned(),
            1 => format!("there are {}", listed(&names, LISTED)),
            _ => {
                let each = tables.iter();
                let each = each.map(|(of, names)| format!("{of} has {}", listed(names, LISTED)));
                each.collect::<Vec<_>>().join("; ")
            }
        };
        format!("there is no column `{name}`; {near}{there}")
    }

    /// A column that several of the query's tables have.
    fn ambiguous(&self, name: &str) -> String {
        let has = |(_, columns): &&(&str, SchemaRef)| columns.index_of(name).is_ok();
        let tables = self.tables.iter().filter(has);
        let tables = tables.filter_map(|(table, _)| called(table, &self.question.sql));
        let tables: Vec<&str> = tables.collect();
        match tables.as_slice() {
            [] | [_] => {
                format!("`{name}` is a column of several tables: say of which, as TABLE.{name}")
            }
            [first, ..] => format!(
                "`{name}` is a column of {}: say of which, as {first}.{name}",
                tables.join(" and of ")
            ),
        }
    }

    /// A table that is none, with the tables that there are, or that it is not finished.
    fn no_table(&self, said: &str) -> Option<String> {
        let (_, named) = said.split_once("table '")?;
        let (wanted, _) = named.split_once("' not found")?;
        let wanted = wanted.trim_start_matches("datafusion.").trim_start_matches("public.");
        let folders = [wanted.to_owned(), wanted.replace('_', "-")].map(PathBuf::from);
        if let Some(begun) = folders.into_iter().find(|folder| dataset::is_unfinished(folder)) {
            return Some(dataset::Error::NotADataset(begun).to_string());
        }
        let tables: Vec<&str> = self.question.names().collect();
        let near = near(wanted, tables.iter().copied());
        let near = near.map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
        let (are, tables) = (if tables.len() > 1 { "are" } else { "is" }, tables.join(", "));
        Some(format!(
            "there is no table `{wanted}`; {near}there {are} {tables} (name one by NAME=DATASET, as in v=vectors)"
        ))
    }

    /// `SHOW TABLES`, which other engines have.
    fn show(&self, said: &str) -> Option<String> {
        let tables: Vec<&str> = self.question.names().collect();
        said.contains("SHOW TABLES").then(|| {
            let first = tables.first().unwrap_or(&"TABLE");
            format!("the tables are {}; DESCRIBE {first} has its columns", tables.join(", "))
        })
    }

    fn no_function(&self, said: &str) -> Option<String> {
        let (_, named) = said.split_once("Invalid function '")?;
        let (wanted, _) = named.split_once('\'')?;
        if self.functions.iter().any(|known| known == wanted) {
            return Some(format!(
                "`{wanted}` stands before OVER: {wanted}() OVER (ORDER BY COLUMN)"
            ));
        }
        let known = ELSEWHERE.iter().find(|(name, _)| *name == wanted).map(|(_, here)| *here);
        let meant = known.or_else(|| near(wanted, self.functions.iter().map(String::as_str)));
        Some(match meant {
            Some(meant) => format!("there is no function `{wanted}`; did you mean `{meant}`?"),
            None => {
                format!("there is no function `{wanted}`: functions are those of Apache DataFusion")
            }
        })
    }

    /// A column that is called as a word of SQL, which takes what stands behind it for its own.
    fn interval(&self, said: &str) -> Option<String> {
        let is_letter = |one: char| one.is_alphanumeric() || one == '_' || one == '"';
        let sql = &self.question.sql;
        let is_bare = sql.split(|one| !is_letter(one)).any(|word| word == INTERVAL);
        let has = self.tables.iter().any(|(_, columns)| columns.index_of(INTERVAL).is_ok());
        (is_bare && has || said.contains("interval argument"))
            .then(|| format!("`{INTERVAL}` is a word of SQL, too: the column is \"{INTERVAL}\""))
    }

    /// The number of a vector that is called so, where it was asked for as a column.
    fn number(&self, name: &str, vector: Option<&str>) -> Option<String> {
        let is_meant = |column: &str| vector.is_none_or(|vector| vector == column);
        let columns = self.tables.iter().flat_map(|(_, columns)| columns.fields());
        let numbers = columns.filter(|column| is_meant(column.name())).find_map(|column| {
            let DataType::Struct(numbers) = column.data_type() else { return None };
            let mut names = numbers.iter().map(|number| number.name());
            let found = names.find(|one| one.eq_ignore_ascii_case(name))?;
            Some((column.name().clone(), found.clone()))
        });
        let in_lists = || {
            self.spaces().into_iter().filter(|(space, _)| is_meant(space)).find_map(
                |(space, names)| {
                    let found = names.into_iter().find(|one| one.eq_ignore_ascii_case(name))?;
                    Some((space, found))
                },
            )
        };
        let (vector, number) = numbers.or_else(in_lists)?;
        let quote = if vector.contains('-') { "\"" } else { "" };
        Some(format!(
            "`{number}` is a number of the vector `{vector}`: write {quote}{vector}{quote}['{number}']"
        ))
    }

    /// The vectors of the tables that are data sets, each with the names of its numbers.
    fn spaces(&self) -> Vec<(String, Vec<String>)> {
        let of = |dataset: Dataset| {
            let spaces = dataset.manifest().notes.configuration["spaces"].clone();
            let spaces = spaces.as_object().cloned().unwrap_or_default();
            spaces.into_iter().map(|(space, names)| {
                let names = names.as_array().into_iter().flatten();
                (space, names.filter_map(|name| name.as_str().map(str::to_owned)).collect())
            })
        };
        self.question.datasets().flat_map(of).collect()
    }

    /// A number of a vector that is asked for by its name, where the vector is a list: which place it has.
    fn by_name(&self, said: &str) -> Option<String> {
        if !said.contains("Cannot access field") || !said.contains("List(") {
            return None;
        }
        let is_list = |column: &str| {
            let mut found =
                self.tables.iter().filter_map(|(_, all)| all.field_with_name(column).ok());
            found.any(|field| field.data_type().is_list())
        };
        let is_letter = |one: char| one.is_alphanumeric() || one == '_';
        let spaces = self.spaces();
        // `instcount['Load']` and `instcount.Load`.
        let plain = self.question.sql.replace("['", ".");
        plain.split('.').collect::<Vec<_>>().windows(2).find_map(|parts| {
            let column = parts[0].rsplit(|one| !is_letter(one)).next()?;
            let name = parts[1].split(|one| !is_letter(one)).next()?;
            if !is_list(column) {
                return None;
            }
            let (_, names) = spaces.iter().find(|(space, _)| space == column)?;
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let place = |name: &str| names.iter().position(|one| *one == name);
            let near = near(name, names.iter().copied());
            Some(match (place(name), near) {
                (Some(at), _) => format!("`{column}` is a list: {name} is {column}[{}]", at + 1),
                (None, Some(near)) => {
                    format!("`{column}` has no dimension `{name}`; did you mean `{near}`?")
                }
                (None, None) => {
                    let there = listed(&names, NAMED);
                    let more = if names.len() > NAMED { ", in _dataset.json" } else { "" };
                    format!("`{column}` has no dimension `{name}`; it has {there}{more}")
                }
            })
        })
    }

    /// A number of a vector that there is not, where the vector is a struct.
    fn no_number(&self, said: &str) -> Option<String> {
        let (_, named) = said.split_once("Field ")?;
        let (wanted, _) = named.split_once(" not found in struct")?;
        let columns = self.tables.iter().flat_map(|(_, columns)| columns.fields());
        let mut vectors = columns.filter_map(|field| {
            let DataType::Struct(numbers) = field.data_type() else { return None };
            let marks = [".", "["].map(|mark| format!("{}{mark}", field.name()));
            let is_asked = marks.iter().any(|mark| self.question.sql.contains(mark));
            let names: Vec<&str> = numbers.iter().map(|number| number.name().as_str()).collect();
            (is_asked && !names.contains(&wanted)).then_some((field.name(), names))
        });
        let (column, names) = vectors.next()?;
        let near = near(wanted, names.iter().copied());
        let near = near.map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
        Some(format!("`{column}` has no `{wanted}`; {near}it has {}", names.join(", ")))
    }
}

/// What is left to say.
fn cannot(said: &str) -> String {
    format!("the query cannot be answered: {}", lower(&in_words(first(said))))
}

/// The first line, without what functions would have wanted and how the parser holds what it read.
fn first(said: &str) -> &str {
    let line = said.lines().next().unwrap_or_default();
    let ends = [", errors:", " { "].map(|mark| line.find(mark).unwrap_or(line.len()));
    line[..ends[0].min(ends[1])].trim().trim_end_matches('.')
}

fn twice(name: &str) -> String {
    format!("two columns of the result are called `{name}`: call one otherwise by AS")
}

/// The first names, and how many more there are.
fn listed(names: &[&str], most: usize) -> String {
    let first = names[..names.len().min(most)].join(", ");
    match names.len().saturating_sub(most) {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}

/// With a small first letter, as in the middle of a sentence; but for what is written so (`UNNEST`).
fn lower(text: &str) -> String {
    let mut letters = text.chars();
    match (letters.next(), letters.clone().next()) {
        (Some(first), Some(second)) if !second.is_uppercase() => {
            first.to_lowercase().chain(letters).collect()
        }
        _ => text.to_owned(),
    }
}

/// A column beside `count(*)` and the like, or one of these where rows are not yet counted.
fn ungrouped(said: &str) -> Option<String> {
    if said.contains("Aggregate functions are not allowed in the WHERE") {
        return Some(
            "`WHERE` chooses rows before they are counted: write `HAVING`, behind `GROUP BY`"
                .to_owned(),
        );
    }
    if !said.contains("must appear in the GROUP BY") {
        return None;
    }
    let column = match said.split_once("HAVING clause references: ") {
        Some((_, rest)) => rest.split_once(" must appear").map(|(column, _)| column),
        None => said
            .split_once("column \"")
            .and_then(|(_, rest)| rest.split_once("\" must"))
            .map(|(column, _)| column),
    }?;
    Some(format!(
        "`{column}` stands beside count, sum or the like, and a group has many: add GROUP BY {column}, or say which, as min({column})"
    ))
}

/// What no query does here.
fn refused(said: &str) -> Option<String> {
    if let Some((_, named)) = said.split_once("unique expression names but the expression \"") {
        return named.split_once('"').map(|(name, _)| twice(name));
    }
    let writes = ["DDL not supported", "DML not supported", "Statement not", "config namespace"];
    if writes.iter().any(|words| said.contains(words)) {
        let told = "a query only reads: write SELECT; `--out FOLDER` keeps its rows as a data set";
        return Some(told.to_owned());
    }
    if said.contains("only supports a single SQL statement") {
        return Some("there are several statements; a query is one".to_owned());
    }
    said.contains("Unary operator '-' only supports signed").then(|| {
        "`-` stands before a column of counts, which have no sign: write 0 - COLUMN".to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_that_is_not_grouped_by_is_named() {
        let said = "Column in SELECT must be in GROUP BY or an aggregate function: While expanding wildcard, column \"k.path\" \
                    must appear in the GROUP BY clause or must be part of an aggregate function";
        assert!(ungrouped(said).is_some_and(|told| told.contains("add GROUP BY k.path, or")));
    }
}

//! Which columns a table has, and which schema they are of.

use crate::cell::{meant, nothing};
use arrow::datatypes::{DataType, Field, FieldRef};
use dataset::Row;
use rows::{Beyond, Layout};
use std::{collections::BTreeMap, sync::Arc};

/// Lists of other columns than vectors whose values have names in the data set's configuration: schema, column, and
/// where.
const NAMED: [(&str, &str, &str); 3] = [
    ("task", "costs", "choices"),
    ("ir-statistics", "opcodes", "opcodes"),
    ("ir-statistics", "opcodes_after", "opcodes"),
];

/// Where the configuration of a schema has the names of a column's values; `None`: among those of spaces.
fn place(schema: &str, column: &str) -> Option<&'static str> {
    let named = NAMED.iter().find(|(of, name, _)| *of == schema && *name == column);
    named.map(|(.., place)| *place)
}

/// The names of a column's values, where the configuration has them.
pub(crate) fn names_of(
    configuration: &serde_json::Value,
    schema: &str,
    column: &str,
) -> Option<Vec<String>> {
    let names = match place(schema, column) {
        Some(place) => &configuration[place],
        None => &configuration["spaces"][column],
    };
    let names = names.as_array().filter(|names| !names.is_empty())?;
    names.iter().map(|name| name.as_str().map(str::to_owned)).collect()
}

/// The configuration that has the names of these columns' values, as [`names_of`] finds them.
pub(crate) fn configuration_of(
    schema: &str,
    names: &BTreeMap<String, Vec<String>>,
) -> serde_json::Value {
    let mut configuration = serde_json::Map::new();
    for (column, names) in names {
        match place(schema, column) {
            Some(place) => {
                configuration.insert(place.to_owned(), names.clone().into());
            }
            None => {
                let spaces = configuration.entry("spaces").or_insert_with(|| serde_json::json!({}));
                spaces[column] = names.clone().into();
            }
        }
    }
    configuration.into()
}

/// Whether values of this column may have columns of their own, `COLUMN.NAME`.
pub(crate) fn may_be_apart(column: &str) -> bool {
    NAMED.iter().any(|(_, name, _)| *name == column) || space(column).is_some()
}

/// The column of a feature space.
pub(crate) fn space(name: &str) -> Option<FieldRef> {
    let known = features::space(name).ok().filter(|space| space.name() == name)?;
    let columns = features::Row::columns().ok()?;
    columns.into_iter().find(|field| field.name() == known.name())
}

/// What is asked of a table's columns.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked<'a> {
    /// The schema; else it is told by the columns.
    pub(crate) schema: Option<&'a str>,
    /// Whether missing columns hold what stands for nothing known.
    pub(crate) fill: bool,
    /// Whether unknown columns are left out.
    pub(crate) ignore: bool,
    /// Our names of columns, and what the table calls them.
    pub(crate) renamed: &'a [(String, String)],
}

impl<'a> Asked<'a> {
    /// The names of a table's columns as they are ours.
    pub(crate) fn ours(&self, found: &[String]) -> Result<Vec<String>, String> {
        let mut names = found.to_vec();
        for (ours, theirs) in self.renamed {
            if ours != theirs && found.contains(ours) {
                return Err(format!(
                    "has a column `{ours}` itself, which --column makes of `{theirs}`"
                ));
            }
            match found.iter().position(|name| name == theirs) {
                Some(at) => names[at].clone_from(ours),
                None => {
                    let meant = meant(theirs, found.iter().map(String::as_str));
                    return Err(format!("has no column `{theirs}`{meant}"));
                }
            }
        }
        Ok(names)
    }

    /// What the table calls a column of ours.
    pub(crate) fn theirs<'n>(&self, ours: &'n str) -> &'n str
    where
        'a: 'n,
    {
        let pair = self.renamed.iter().find(|(name, _)| name == ours);
        pair.map_or(ours, |(_, theirs)| theirs)
    }
}

/// A table's columns as the data set will have them.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    pub(crate) schema: &'static str,
    pub(crate) version: u32,
    /// All columns of the data set to be.
    pub(crate) fields: Vec<FieldRef>,
    /// Of these, the ones that the table lacks, with the JSON that stands in them; `None`: no value.
    pub(crate) absent: BTreeMap<String, Option<&'static str>>,
}

impl Shape {
    /// The shape of a table with these columns.
    pub(crate) fn of(found: &[String], asked: Asked<'_>) -> Result<Shape, String> {
        let layouts = rows::layouts().map_err(|error| error.to_string())?;
        let layout = match asked.schema {
            Some(name) => named(&layouts, name)?,
            None => told(&layouts, found, asked)?,
        };
        let (missing, unknown) = differences(layout, found);
        let mut wrong = Vec::new();
        if !unknown.is_empty() && !asked.ignore {
            let names = || names(layout);
            let list: Vec<String> = unknown
                .iter()
                .map(|name| format!("`{name}`{}", meant(name, names().map(String::as_str))))
                .collect();
            wrong.push(format!("unknown {}: --ignore-unknown leaves it out", columns(&list)));
        }
        if !missing.is_empty() && !asked.fill {
            let list: Vec<String> = missing
                .iter()
                .map(|name| format!("`{name}`{}", meant(name, unknown.iter().map(String::as_str))))
                .collect();
            wrong.push(format!(
                "missing {}: --fill writes what stands for nothing known",
                columns(&list)
            ));
        }
        if !wrong.is_empty() {
            return Err(format!("no rows of schema `{}`: {}", layout.name, wrong.join("; ")));
        }
        Ok(Shape::with(layout, found, &missing))
    }

    fn with(layout: &Layout, found: &[String], missing: &[String]) -> Shape {
        let mut fields: Vec<FieldRef> = Vec::new();
        if layout.beyond != Beyond::Nothing {
            fields.extend(found.iter().filter_map(|name| field(layout, name)));
        }
        for field in &layout.columns {
            if !fields.iter().any(|known| known.name() == field.name()) {
                fields.push(Arc::clone(field));
            }
        }
        let mut absent = BTreeMap::new();
        for field in &fields {
            if !found.contains(field.name()) {
                let stands = missing.contains(field.name()).then(|| nothing(field)).flatten();
                absent.insert(field.name().clone(), stands);
            }
        }
        Shape { schema: layout.name, version: layout.version, fields, absent }
    }

    /// Whether this column holds the vectors of a feature space.
    pub(crate) fn is_space(&self, name: &str) -> bool {
        space(name).is_some_and(|space| self.field(name) == Some(&space))
    }

    /// The column of this name.
    pub(crate) fn field(&self, name: &str) -> Option<&FieldRef> {
        self.fields.iter().find(|field| field.name() == name)
    }
}

/// The column of a schema that has this name.
fn field(layout: &Layout, name: &str) -> Option<FieldRef> {
    let all = layout.columns.iter().chain(&layout.further);
    let named = all.into_iter().find(|field| field.name() == name).cloned();
    let number = || Arc::new(Field::new(name, DataType::Float64, true));
    match layout.beyond {
        Beyond::Nothing => named,
        Beyond::Vectors => named.or_else(|| space(name)),
        Beyond::Numbers => named.or_else(|| space(name)).or_else(|| Some(number())),
    }
}

fn names(layout: &Layout) -> impl Iterator<Item = &String> {
    layout.columns.iter().chain(&layout.further).map(|field| field.name())
}

/// Columns that must be there and are not, and columns that the schema does not know.
fn differences(layout: &Layout, found: &[String]) -> (Vec<String>, Vec<String>) {
    let must = layout.columns.iter().filter(|field| !field.is_nullable());
    let missing = must.map(|field| field.name().clone()).filter(|name| !found.contains(name));
    let unknown = found.iter().filter(|name| field(layout, name).is_none()).cloned();
    (missing.collect(), unknown.collect())
}

fn columns(list: &[String]) -> String {
    let some: Vec<&str> = list.iter().take(8).map(String::as_str).collect();
    let more = match list.len().saturating_sub(some.len()) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("column{} {}{more}", if list.len() == 1 { "" } else { "s" }, some.join(", "))
}

fn named<'a>(layouts: &'a [Layout], name: &str) -> Result<&'a Layout, String> {
    layouts.iter().find(|layout| layout.name == name).ok_or_else(|| {
        let names: Vec<&str> = layouts.iter().map(|layout| layout.name).collect();
        let meant = meant(name, names.iter().copied());
        format!("there is no schema `{name}`{meant}; there are {}", names.join(", "))
    })
}

/// The schema whose columns these are: all that must be there, and no other.
fn told<'a>(
    layouts: &'a [Layout],
    found: &[String],
    asked: Asked<'_>,
) -> Result<&'a Layout, String> {
    let fits = |layout: &&Layout| {
        let (missing, unknown) = differences(layout, found);
        missing.is_empty() && (asked.ignore || unknown.is_empty())
    };
    // The one that has most of its own: the columns of some are among those of others.
    let best = layouts.iter().filter(fits).max_by_key(|layout| layout.columns.len());
    best.ok_or_else(|| {
        let shared = |layout: &&Layout| {
            layout.columns.iter().filter(|field| found.contains(field.name())).count()
        };
        let near = layouts.iter().filter(|layout| shared(layout) > 0).max_by_key(|layout| {
            // Of equals the smallest.
            (shared(layout), std::cmp::Reverse(layout.columns.len()))
        });
        let near = match near {
            Some(near) => {
                format!("they are nearest to `{}`", near.name)
            }
            None => "no schema has one of them".to_owned(),
        };
        format!("the columns are of no schema as a whole ({near}); name one with --schema to be told what differs")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANY: Asked<'_> = Asked { schema: None, fill: false, ignore: false, renamed: &[] };

    fn owned(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn every_schema_is_told_by_its_own_columns() {
        for layout in rows::layouts().expect("they are columns") {
            let found: Vec<String> = names(&layout).cloned().collect();
            let shape = Shape::of(&found, ANY).expect("they are all there");
            assert_eq!(shape.schema, layout.name);
            assert!(shape.absent.is_empty());
        }
    }

    #[test]
    fn what_differs_from_a_schema_is_named() {
        let round = Asked { schema: Some("round"), ..ANY };
        let told = Shape::of(&owned(&["paht", "text"]), round).expect_err("path is missing");
        assert!(told.contains("unknown column `paht` (did you mean `path`?)"), "{told}");
        assert!(told.contains("missing column `path` (did you mean `paht`?)"), "{told}");
        let told = Shape::of(&owned(&["x"]), Asked { schema: Some("rounds"), ..ANY });
        assert!(told.expect_err("no schema").contains("did you mean `round`?"));
        let filled = Asked { fill: true, ignore: true, ..round };
        let shape = Shape::of(&owned(&["paht", "text"]), filled).expect("it is filled");
        assert_eq!(shape.absent["path"], Some("\"\""));
    }

    #[test]
    fn names_of_values_are_found_where_they_were_put() {
        // A space has the name of a column of another schema.
        for (schema, columns) in
            [("task", ["costs", "tokens", "opcodes"]), ("ir-statistics", ["opcodes"; 3])]
        {
            let names = columns.map(|column| (column.to_owned(), owned(&["a", "b"])));
            let names = BTreeMap::from(names);
            let configuration = configuration_of(schema, &names);
            for (column, names) in names {
                assert_eq!(names_of(&configuration, schema, &column), Some(names));
            }
            assert_eq!(names_of(&configuration, schema, "instcount"), None);
        }
    }
}

//! The CLgen paper, whose recipe is in `heuristics`: its Table 1 as CSV too.

use crate::{Error, Options, Reproduced};
use serde_json::Value;

pub(crate) fn make(options: &Options) -> Result<Reproduced, Error> {
    let made = heuristics::reproduce(options)?;
    let mut files = made.pictures;
    for platform in ["amd", "nvidia"] {
        files.push((format!("table1-{platform}.csv"), table(&made.numbers["table1"][platform])));
    }
    Ok(Reproduced { numbers: made.numbers, text: made.text, files })
}

/// Per cent of the oracle: tested on the row, trained on the column. Names of suites have no comma.
fn table(cells: &Value) -> String {
    let Some(rows) = cells.as_object() else { return String::new() };
    let mut columns: Vec<&String> =
        rows.values().filter_map(Value::as_object).flat_map(|row| row.keys()).collect();
    columns.sort();
    columns.dedup();
    let mut text =
        columns.iter().fold("test".to_owned(), |line, column| format!("{line},{column}"));
    for (name, row) in rows {
        text = columns.iter().fold(format!("{text}\n{name}"), |line, column| {
            let cell = row.get(column.as_str()).and_then(Value::as_f64);
            format!("{line},{}", cell.map(|value| format!("{value:.1}")).unwrap_or_default())
        });
    }
    text + "\n"
}

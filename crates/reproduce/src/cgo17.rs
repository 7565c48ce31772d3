//! The CLgen paper, whose recipe is in `heuristics`: its Table 1 as CSV too, Figure 3, and Figure 9 over the number of kernels, with
//! the kernels of the folder's own data sets beside the paper's.

use crate::{Error, Options, Reproduced, Set, matches, neighbors};
use heuristics::ReproduceOptions;
use serde_json::{Value, json};

pub(crate) fn make(options: &Options, sets: &[Set]) -> Result<Reproduced, Error> {
    let Options { recipe, data, seeds, .. } = options.clone();
    let made = heuristics::reproduce(&ReproduceOptions { recipe, data, seeds })?;
    let mut files = [made.pictures, made.tables].concat();
    for platform in ["amd", "nvidia"] {
        files.push((format!("table1-{platform}.csv"), table(&made.numbers["table1"][platform])));
    }
    let maps = neighbors::figure(&options.data)?;
    files.push(("figure3.csv".to_owned(), maps.csv));
    files.push(("figure3.svg".to_owned(), maps.svg));
    let figure = matches::figure(&options.data, sets)?;
    files.push(("figure9.csv".to_owned(), figure.csv));
    files.push(("figure9.svg".to_owned(), figure.svg));
    let mut numbers = made.numbers;
    if let Some(object) = numbers.as_object_mut() {
        object.insert("figure3".to_owned(), maps.numbers);
        object.insert("figure9_over_n".to_owned(), json!(figure.curves));
    }
    Ok(Reproduced { numbers, text: made.text + &maps.text + &figure.text, files })
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

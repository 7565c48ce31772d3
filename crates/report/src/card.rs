//! What a data set says of itself to others: what Hugging Face asks of one, and a
//! [Croissant](https://docs.mlcommons.org/croissant/docs/croissant-spec.html) 1.0 file.

use crate::{Error, Result, figures::count};
use arrow::{
    array::AsArray,
    datatypes::{DataType, Fields},
};
use dataset::{Dataset, Manifest};
use serde_json::{Value, json};
use std::{collections::BTreeMap, fmt::Write};

/// What `datasets` reads in a folder in the place of the metadata at the beginning of a card.
const METADATA: &str = ".huggingface.yaml";
const CROISSANT: &str = "_croissant.json";

/// Files that stand beside the parts of every data set: license, tags, size, columns and split as
/// `datasets.load_dataset` reads them, and a Croissant file. They depend on rows and manifest alone, not on where the data
/// set is. Their names begin as pandas and pyarrow pass files by; a `README.md` they take for a part.
///
/// # Errors
/// When the data set cannot be read.
pub fn describe(dataset: &Dataset) -> dataset::Result<Vec<(&'static str, Vec<u8>)>> {
    descriptions(dataset).map_err(|error| match error {
        Error::Dataset(error) => error,
        Error::Read { path, source } => dataset::Error::File { action: "read", path, source },
        other => dataset::Error::Described {
            path: dataset.folder().to_owned(),
            reason: other.to_string(),
        },
    })
}

fn descriptions(dataset: &Dataset) -> Result<Vec<(&'static str, Vec<u8>)>> {
    let about = About::of(dataset)?;
    let name = &about.manifest.schema;
    let croissant = serde_json::to_string_pretty(&about.croissant(name, dataset)?)? + "\n";
    Ok(vec![(METADATA, about.metadata(name).into_bytes()), (CROISSANT, croissant.into_bytes())])
}

/// Write the data set to the new folder `to`, with `README.md` and `croissant.json` beside its parts: one
/// that stampmill reads as before, that `datasets.load_dataset` opens, and that can be uploaded as it is. They stand in
/// the place of what [`describe`] makes.
///
/// # Errors
/// When the data set cannot be read, there is something at `to`, or it cannot be written.
pub fn share(dataset: &Dataset, to: &std::path::Path) -> Result<()> {
    let name = to.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let about = About::of(dataset)?;
    let croissant = serde_json::to_string_pretty(&about.croissant(&name, dataset)?)? + "\n";
    let files =
        [("README.md", about.card(&name).into_bytes()), ("croissant.json", croissant.into())];
    Ok(dataset.export(to, &files, &[METADATA, CROISSANT])?)
}

/// Of which all that is said here is made.
struct About<'a> {
    manifest: &'a Manifest,
    /// What a row is; empty for a schema that is not ours.
    row: String,
    columns: Vec<Column>,
    /// Accepted rows by their license, where there is such a column.
    licenses: Option<BTreeMap<String, u64>>,
}

struct Column {
    name: String,
    kind: DataType,
    meaning: String,
}

impl About<'_> {
    fn of(dataset: &Dataset) -> Result<About<'_>> {
        let manifest = dataset.manifest();
        let known = rows::schemas()?.into_iter().find(|schema| schema.name == manifest.schema);
        let meaning = |name: &str| {
            let columns = known.iter().flat_map(|schema| &schema.columns);
            columns.filter(|(column, ..)| column == name).map(|(.., meaning)| *meaning).next()
        };
        let columns: Vec<Column> = dataset
            .columns()?
            .fields()
            .iter()
            .map(|field| Column {
                name: field.name().clone(),
                kind: field.data_type().clone(),
                meaning: meaning(field.name()).unwrap_or_default().to_owned(),
            })
            .collect();
        let mut licenses = BTreeMap::new();
        for batch in dataset.batches(Some(&["license", "verdict"]))? {
            let batch = batch?;
            let words = |name: &str| batch.column_by_name(name)?.as_string_opt::<i32>();
            let Some(found) = words("license") else { continue };
            let verdicts = words("verdict");
            for (at, license) in found.iter().enumerate() {
                let accepted = verdicts.is_none_or(|verdicts| verdicts.value(at) == "accepted");
                if accepted {
                    *licenses.entry(license.unwrap_or_default().to_owned()).or_default() += 1;
                }
            }
        }
        let has_licenses = columns.iter().any(|column| column.name == "license");
        Ok(About {
            manifest,
            row: known.map(|schema| schema.about).unwrap_or_default(),
            columns,
            licenses: has_licenses.then_some(licenses),
        })
    }

    /// YAML: what a card begins with, between two lines.
    fn metadata(&self, name: &str) -> String {
        let Manifest { schema, rows, .. } = self.manifest;
        let mut text = String::from("license:\n");
        for license in self.hub_licenses() {
            let _ = writeln!(text, "- {license}");
        }
        let _ = write!(
            text,
            "pretty_name: {}\ntags:\n- code\n- compilers\n- {schema}\nsize_categories:\n- {}\nconfigs:\n- config_name: default\n  data_files: part-*.parquet\ndataset_info: {}\n",
            json!(name),
            size(*rows),
            self.info()
        );
        text
    }

    fn card(&self, name: &str) -> String {
        let Manifest { schema, version, rows, stampmill, identity, notes, .. } = self.manifest;
        let mut text = format!("---\n{}---\n\n", self.metadata(name));
        let _ = write!(text, "# {}\n\n{}\n\n", plain(name), self.row.trim());
        let _ = write!(
            text,
            "{} rows of schema `{schema}` version {version}, made by stampmill {stampmill}. Identity: `{identity}`.\n\n",
            count(*rows)
        );
        let _ = write!(
            text,
            "```python\nimport datasets\nrows = datasets.load_dataset(\"{}\")[\"train\"]\n```\n\n",
            plain(name)
        );
        table(&mut text, "verdict", &notes.verdicts);
        if let Some(licenses) = &self.licenses {
            table(&mut text, "license of accepted rows", licenses);
        }
        text += "| column | type | meaning |\n|---|---|---|\n";
        for Column { name, kind, meaning } in &self.columns {
            let _ =
                writeln!(text, "| `{}` | `{}` | {meaning} |", plain(name), plain(&kind_text(kind)));
        }
        let inputs = notes
            .inputs
            .iter()
            .map(|input| format!("- {} (`{}`)\n", plain(&input.name), input.hash));
        let _ = write!(text, "\nMade from:\n\n{}", inputs.collect::<String>());
        text += "\n`_dataset.json` has the settings, the tools and their versions. `stampmill fsck` checks all files.\n";
        text
    }

    /// What the hub shows of columns and splits: JSON, which is YAML.
    fn info(&self) -> Value {
        let features: Vec<Value> =
            self.columns.iter().map(|column| hub_feature(&column.name, &column.kind)).collect();
        let bytes: u64 = self.manifest.shards.iter().map(|shard| shard.bytes).sum();
        json!({
            "features": features,
            "splits": [{"name": "train", "num_examples": self.manifest.rows, "num_bytes": bytes}],
            "download_size": bytes,
            "dataset_size": bytes,
        })
    }

    fn croissant(&self, name: &str, dataset: &Dataset) -> Result<Value> {
        let mut files = Vec::new();
        for (shard, path) in self.manifest.shards.iter().zip(dataset.shards()) {
            let hash = mine::sha256(&path).map_err(|source| Error::Read { path, source })?;
            files.push(json!({
                "@type": "cr:FileObject", "@id": shard.file, "name": shard.file, "contentUrl": shard.file,
                "encodingFormat": "application/x-parquet", "contentSize": format!("{} B", shard.bytes), "sha256": hash,
            }));
        }
        let sets = self.manifest.shards.iter().enumerate().map(|(at, shard)| {
            let id = if at == 0 { "rows".to_owned() } else { format!("rows-{at}") };
            let fields = self.columns.iter().filter_map(|Column { name, kind, meaning }| {
                let (kind, repeated) = croissant_type(kind)?;
                Some(json!({
                    "@type": "cr:Field", "@id": format!("{id}/{name}"), "name": name, "description": meaning,
                    "dataType": kind, "repeated": repeated,
                    "source": {"fileObject": {"@id": shard.file}, "extract": {"column": name}},
                }))
            });
            json!({"@type": "cr:RecordSet", "@id": id, "name": id, "description": self.row.trim(), "field": fields.collect::<Vec<_>>()})
        });
        Ok(json!({
            "@context": context(),
            "@type": "sc:Dataset",
            "name": name,
            "description": format!("{} {} rows.", self.row.trim(), self.manifest.rows),
            "conformsTo": "http://mlcommons.org/croissant/1.0",
            "license": self.licenses.iter().flatten().map(|(license, _)| license).filter(|license| !license.is_empty()).collect::<Vec<_>>(),
            "version": format!("{}.0.0", self.manifest.version),
            "creator": {"@type": "sc:Organization", "name": format!("stampmill {}", self.manifest.stampmill)},
            "identifier": self.manifest.identity,
            "distribution": files,
            "recordSet": sets.collect::<Vec<_>>(),
        }))
    }

    /// By the names that the hub has for licenses; what it has none for is `other`, what is not known `unknown`.
    fn hub_licenses(&self) -> Vec<String> {
        let mut names: Vec<String> = match &self.licenses {
            Some(licenses) => licenses.keys().map(|license| hub_license(license)).collect(),
            None => vec!["unknown".to_owned()],
        };
        names.sort();
        names.dedup();
        if names.is_empty() { vec!["unknown".to_owned()] } else { names }
    }
}

fn hub_license(spdx: &str) -> String {
    const KNOWN: [&str; 24] = [
        "afl-3.0",
        "agpl-3.0",
        "apache-2.0",
        "artistic-2.0",
        "bsd",
        "bsd-2-clause",
        "bsd-3-clause",
        "bsl-1.0",
        "cc-by-4.0",
        "cc-by-sa-4.0",
        "cc0-1.0",
        "ecl-2.0",
        "epl-2.0",
        "eupl-1.2",
        "gpl-2.0",
        "gpl-3.0",
        "isc",
        "lgpl-2.1",
        "lgpl-3.0",
        "mit",
        "mpl-2.0",
        "ncsa",
        "unlicense",
        "zlib",
    ];
    let lower = spdx.to_lowercase();
    let bare = lower.trim_end_matches("-only").trim_end_matches("-or-later").trim_end_matches('+');
    match bare {
        "" => "unknown".to_owned(),
        bare if KNOWN.contains(&bare) => bare.to_owned(),
        _ => "other".to_owned(),
    }
}

/// The hub's classes of sizes.
fn size(rows: u64) -> &'static str {
    match rows {
        0..1_000 => "n<1K",
        1_000..10_000 => "1K<n<10K",
        10_000..100_000 => "10K<n<100K",
        100_000..1_000_000 => "100K<n<1M",
        1_000_000..10_000_000 => "1M<n<10M",
        _ => "10M<n<100M",
    }
}

fn table(text: &mut String, of: &str, counts: &BTreeMap<String, u64>) {
    if counts.is_empty() {
        return;
    }
    let _ = write!(text, "| {of} | rows |\n|---|---:|\n");
    for (word, number) in counts {
        let word = if word.is_empty() { "not known".to_owned() } else { plain(word) };
        let _ = writeln!(text, "| {word} | {} |", count(*number));
    }
    text.push('\n');
}

/// What others named, as text that is no markup.
fn plain(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() || "|<>`\"\\[]*_".contains(c) && c != '_' { ' ' } else { c })
        .collect()
}

fn kind_text(kind: &DataType) -> String {
    match kind {
        DataType::List(field) => format!("list of {}", kind_text(field.data_type())),
        DataType::Struct(fields) => format!("struct of {} fields", fields.len()),
        other => other.to_string().to_lowercase(),
    }
}

/// A column as `datasets` describes it.
fn hub_feature(name: &str, kind: &DataType) -> Value {
    let of = |kind: &DataType| match kind {
        DataType::Utf8 => json!("string"),
        DataType::Boolean => json!("bool"),
        other => json!(other.to_string().to_lowercase()),
    };
    let named = |fields: &Fields| -> Vec<Value> {
        fields.iter().map(|field| hub_feature(field.name(), field.data_type())).collect()
    };
    match kind {
        DataType::List(field) => match field.data_type() {
            DataType::Struct(fields) => json!({"name": name, "list": named(fields)}),
            kind @ DataType::List(_) => {
                json!({"name": name, "list": {"list": hub_feature("", kind)["list"]}})
            }
            kind => json!({"name": name, "list": of(kind)}),
        },
        DataType::Struct(fields) => json!({"name": name, "struct": named(fields)}),
        kind => json!({"name": name, "dtype": of(kind)}),
    }
}

/// The type as Croissant has it, and whether it is a list; structs are left out.
fn croissant_type(kind: &DataType) -> Option<(&'static str, bool)> {
    match kind {
        DataType::List(field) => Some((croissant_type(field.data_type())?.0, true)),
        DataType::Struct(_) => None,
        DataType::Boolean => Some(("sc:Boolean", false)),
        kind if kind.is_integer() => Some(("sc:Integer", false)),
        kind if kind.is_floating() => Some(("sc:Float", false)),
        _ => Some(("sc:Text", false)),
    }
}

/// The context that the specification gives.
fn context() -> Value {
    json!({
        "@language": "en", "@vocab": "https://schema.org/", "citeAs": "cr:citeAs", "column": "cr:column",
        "conformsTo": "dct:conformsTo", "cr": "http://mlcommons.org/croissant/", "rai": "http://mlcommons.org/croissant/RAI/",
        "data": {"@id": "cr:data", "@type": "@json"}, "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
        "dct": "http://purl.org/dc/terms/", "examples": {"@id": "cr:examples", "@type": "@json"}, "extract": "cr:extract",
        "field": "cr:field", "fileProperty": "cr:fileProperty", "fileObject": "cr:fileObject", "fileSet": "cr:fileSet",
        "format": "cr:format", "includes": "cr:includes", "isLiveDataset": "cr:isLiveDataset", "jsonPath": "cr:jsonPath",
        "key": "cr:key", "md5": "cr:md5", "parentField": "cr:parentField", "path": "cr:path", "recordSet": "cr:recordSet",
        "references": "cr:references", "regex": "cr:regex", "repeated": "cr:repeated", "replace": "cr:replace",
        "sc": "https://schema.org/", "separator": "cr:separator", "source": "cr:source", "subField": "cr:subField",
        "transform": "cr:transform",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn licenses_and_sizes_have_the_names_of_the_hub() {
        let names =
            ["MIT", "GPL-2.0-or-later", "LGPL-2.1-only", "MIT AND ISC", ""].map(hub_license);
        assert_eq!(names, ["mit", "gpl-2.0", "lgpl-2.1", "other", "unknown"]);
        assert_eq!(
            [size(0), size(999), size(1000), size(6135)],
            ["n<1K", "n<1K", "1K<n<10K", "1K<n<10K"]
        );
    }

    #[derive(serde::Serialize, serde::Deserialize)]
    struct Odd {
        license: String,
        verdict: String,
        lists: Vec<Vec<f64>>,
    }

    impl dataset::Row for Odd {
        const SCHEMA: &'static str = "odd";
        const VERSION: u32 = 1;
    }

    #[test]
    fn a_data_set_is_described_alike_wherever_it_is() {
        let home = tempfile::tempdir().unwrap();
        let row = |license: &str, verdict: &str| Odd {
            license: license.into(),
            verdict: verdict.into(),
            lists: vec![vec![1.0]],
        };
        let described = |name: &str| {
            let out = home.path().join(name);
            let builder = dataset::Builder::<Odd>::create(&out, false, &"").unwrap();
            let rows = [row("MIT", "accepted"), row("GPL-2.0-only", "too-small")];
            let set = builder.finish(rows, dataset::Notes::default()).unwrap();
            describe(&set).unwrap()
        };
        let files = described("one");
        assert_eq!(files, described("other"));
        let [(METADATA, metadata), (CROISSANT, croissant)] = files.as_slice() else {
            panic!("{files:?}")
        };
        let metadata = String::from_utf8_lossy(metadata);
        let list = r#"{"name":"lists","list":{"list":"float64"}}"#;
        for part in
            ["license:\n- mit\npretty_name: \"odd\"\n", "- n<1K\n", "\"num_examples\":2", list]
        {
            assert!(metadata.contains(part), "{part}: {metadata}");
        }
        let croissant: Value = serde_json::from_slice(croissant).unwrap();
        assert_eq!(croissant["distribution"][0]["contentUrl"], "part-00000.parquet");
        assert_eq!(croissant["license"], json!(["MIT"]));
        assert_eq!(croissant["recordSet"][0]["field"].as_array().map(Vec::len), Some(3));
    }

    #[test]
    fn a_data_set_without_rows_has_columns() {
        let home = tempfile::tempdir().unwrap();
        let builder =
            dataset::Builder::<Odd>::create(&home.path().join("none"), false, &"").unwrap();
        let set = builder.finish(Vec::new(), dataset::Notes::default()).unwrap();
        let card = About::of(&set).unwrap().card("none");
        assert!(card.starts_with("---\nlicense:\n- unknown\n"), "{card}");
        assert!(card.contains("| `verdict` | `utf8` |  |"), "{card}");
    }

    #[test]
    fn what_others_named_is_no_markup() {
        assert_eq!(plain("a|b\n<script>`x`"), "a b  script  x ");
        assert_eq!(plain("does_not-compile"), "does_not-compile");
    }
}

//! `@list.toml`: many sources.

use super::{Context, Package, Source, Spec};
use crate::{Error, Result};
use std::path::{Path, PathBuf};

struct List(PathBuf);

pub(super) fn parse(text: &str) -> Option<Result<Box<dyn Source>, String>> {
    let path = text.strip_prefix('@')?;
    Some(match Path::new(path).is_file() {
        true => Ok(Box::new(List(path.into())) as Box<dyn Source>),
        false => Err(dataset::missing(Path::new(path))),
    })
}

impl Source for List {
    fn members(&self, _: &Context<'_>) -> Result<Option<Vec<Spec>>> {
        let text = std::fs::read_to_string(&self.0).map_err(Error::file("read", &self.0))?;
        let bad = |reason| Error::List { path: self.0.clone(), reason };
        let texts = read(&text).map_err(bad)?;
        texts.iter().map(|text| Spec::parse(text)).collect::<Result<_>>().map(Some)
    }

    fn fetch(&self, _: &Context<'_>) -> Result<Package> {
        Err(Error::unavailable(&self.0.display().to_string(), "a list is no package"))
    }
}

/// The sources in a list: every table of the file may hold `sources = ["deb:x", ...]`, the names of
/// tables are for readers.
///
/// # Errors
/// With what is wrong: no TOML, or a value that is no list of strings.
pub fn read(text: &str) -> Result<Vec<String>, String> {
    let table: toml::Table = text.parse().map_err(|error: toml::de::Error| error.to_string())?;
    let mut found = Vec::new();
    collect(&table, &mut found)?;
    if found.is_empty() {
        return Err("names no sources; write `sources = [\"deb:clpeak\"]`".to_owned());
    }
    Ok(found)
}

fn collect(table: &toml::Table, found: &mut Vec<String>) -> Result<(), String> {
    for (name, value) in table {
        match value {
            toml::Value::Table(table) => collect(table, found)?,
            toml::Value::Array(items) if name == "sources" => {
                for item in items {
                    let text = item
                        .as_str()
                        .ok_or_else(|| format!("`{item}` in `sources` is no string"))?;
                    if text.starts_with('@') {
                        return Err(format!("`{text}`: a list cannot name another list"));
                    }
                    found.push(text.to_owned());
                }
            }
            _ if name == "sources" => return Err("`sources` is no list".to_owned()),
            toml::Value::String(_) => {}
            other => return Err(format!("`{name} = {other}` means nothing here")),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_gives_its_sources_in_order_or_says_what_is_wrong() {
        let list = "title = \"x\"\n[a]\nabout = \"y\"\nsources = [\"deb:b\", \"deb:a\"]\n[c.d]\nsources = [\"pypi:x\"]";
        assert_eq!(read(list).unwrap(), ["deb:b", "deb:a", "pypi:x"]);
        for bad in [
            "",
            "sources = 3",
            "sources = [3]",
            "sources = [\"@me.toml\"]",
            "[",
            "sourcse = [\"deb:a\"]",
        ] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }
}

//! What the user wrote, as sources that can be built.

use super::{BuildOptions, Source, checkout, crates, debian, folder};
use crate::{Error, wrap::real};
use std::{fs, path::Path};

/// Reads one form of a source; `None` where the text has another form.
type Parse = fn(&str, &BuildOptions<'_>) -> Option<Result<Vec<Box<dyn Source>>, Error>>;

const FAMILY: &[Parse] = &[crates::parse, debian::parse, folder::parse, checkout::parse];

pub(super) fn all(options: &BuildOptions<'_>) -> Result<Vec<Box<dyn Source>>, Error> {
    let mut all = Vec::new();
    for text in listed(&options.sources)? {
        let parse = |text: &str| FAMILY.iter().find_map(|parse| parse(text, options));
        // A folder needs no word before it.
        let path = Path::new(&text);
        let folder = path.is_dir().then(|| format!("dir:{text}"));
        let parsed = parse(&text).or_else(|| parse(&folder?));
        let has_kind = text.split_once(':').is_some_and(|(kind, _)| !kind.contains(['/', '.']));
        let unknown = || match has_kind {
            true => "no such kind".to_owned(),
            false => dataset::missing(path),
        };
        all.extend(parsed.unwrap_or_else(|| Err(Error::unknown_source(&text, unknown())))?);
    }
    // What this machine lacks is no package's fault, and told before anything is begun.
    for source in &all {
        let missing = source.needs().into_iter().find(|(program, _)| real(&[program]).is_none());
        if let Some((program, install)) = missing {
            return Err(Error::MissingTool { text: source.text().to_owned(), program, install });
        }
    }
    Ok(all)
}

/// The sources with each list, `@LIST.toml`, replaced by what it names.
fn listed(sources: &[String]) -> Result<Vec<String>, Error> {
    let mut all = Vec::new();
    for text in sources {
        let Some(path) = text.strip_prefix('@').map(Path::new) else {
            all.push(text.clone());
            continue;
        };
        if !path.is_file() {
            return Err(Error::unknown_source(text, dataset::missing(path)));
        }
        let list = fs::read_to_string(path).map_err(Error::file("read", path))?;
        all.extend(mine::read_list(&list).map_err(|reason| Error::format(path, reason))?);
    }
    Ok(all)
}

/// How many packages of an index are asked for.
const MOST: usize = 10_000;

pub(super) fn count(text: &str, of: &str) -> Result<usize, String> {
    let count = text.parse().ok().filter(|count| (1..=MOST).contains(count));
    count.ok_or_else(|| format!("`{text}` is no number of {of} from 1 to {MOST}"))
}

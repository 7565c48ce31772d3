//! `github-code:QUERY[#LIMIT]`: the repositories that hold the files which a search of code finds, through GitHub's REST
//! API.
//!
//! A file by itself lacks what it includes and says no license, so its repository is mined whole, as `github:` mines it.
//! GitHub searches code for those alone who sign in (`GITHUB_TOKEN`), ten times a minute, and answers with a thousand
//! files at most.

use super::{
    Context, Package, Source, Spec,
    github::{self, Api, PAGE},
};
use crate::{Error, Result};
use serde::Deserialize;

const PREFIX: &str = "github-code:";

struct Search {
    query: String,
    limit: usize,
}

pub(super) fn parse(text: &str) -> Option<Result<Box<dyn Source>, String>> {
    let read = github::query(text.strip_prefix(PREFIX)?);
    Some(read.map(|(query, limit)| Box::new(Search { query, limit }) as Box<dyn Source>))
}

/// A file that was found.
#[derive(Deserialize)]
struct Item {
    repository: Repository,
}

#[derive(Deserialize)]
struct Repository {
    full_name: String,
}

impl Source for Search {
    fn members(&self, context: &Context<'_>) -> Result<Option<Vec<Spec>>> {
        let spec = format!("{PREFIX}{}", self.query);
        let api = Api::new(&spec, context);
        if api.is_anonymous() && !context.offline {
            let why = "GitHub searches code for those alone who sign in: set GITHUB_TOKEN";
            return Err(Error::unavailable(&spec, why));
        }
        let query = github::percent_encoded(&self.query);
        let mut names: Vec<String> = Vec::new();
        api.search(&format!("/search/code?q={query}&per_page={PAGE}"), |items: Vec<Item>| {
            for name in items.into_iter().map(|item| item.repository.full_name) {
                if github::is_name(&name) && !names.contains(&name) {
                    names.push(name);
                }
            }
            names.len() < self.limit
        })?;
        names.truncate(self.limit);
        let found = names.into_iter().map(|name| github::found(name, String::new()));
        Ok(Some(found.collect()))
    }

    fn fetch(&self, _: &Context<'_>) -> Result<Package> {
        Err(Error::unavailable(&self.query, "a search is no package"))
    }
}

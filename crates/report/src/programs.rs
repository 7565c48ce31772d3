//! The programs whose texts stand on the page.

use crate::{Section, Set, figures};
use maud::{Markup, html};
use serde::Serialize;
use std::collections::{HashMap, HashSet};

/// A program as the page shows it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct Program {
    /// Identity of its text.
    #[serde(skip)]
    pub(super) id: String,
    /// The kernel's name, as it was found.
    pub(super) name: String,
    /// The data set.
    pub(super) set: String,
    /// The package, the target, the round: where it is from in a word.
    pub(super) origin: String,
    /// Where in that.
    pub(super) path: String,
    /// SPDX expression, or empty.
    pub(super) license: String,
    /// The program.
    pub(super) text: String,
    /// The kernel as it stands in its content file, where that is in the folder too; see [`crate::before`].
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) before: String,
    /// Id of the content file, and the kernel's name there.
    #[serde(skip)]
    pub(super) content: (String, String),
}

/// A chosen part of all programs of the folder, each text once.
#[derive(Debug, Default)]
pub(super) struct Programs {
    list: Vec<Program>,
    places: HashMap<String, usize>,
    all: usize,
}

/// Longer texts would drown the page; they count as left out.
const LONGEST: usize = 1 << 16;

impl Programs {
    /// Choose at most `most` different programs: what was made first, and of either kind evenly
    /// spread. The data sets are read twice, so that only what is chosen is held.
    pub(super) fn collect(
        &mut self,
        sets: &[(bool, &dyn Section, &Set)],
        most: usize,
        problems: &mut Vec<String>,
    ) {
        let mut seen = HashSet::new();
        let mut kinds: [Vec<String>; 2] = Default::default();
        for (made, section, set) in sets {
            read(*section, set, problems, |program| {
                if seen.insert(program.id.clone()) && program.text.len() <= LONGEST {
                    kinds[usize::from(!made)].push(program.id);
                }
            });
        }
        self.all = seen.len();
        let [made, found] = kinds;
        let mut chosen: HashSet<String> = spread(made, most).collect();
        chosen.extend(spread(found, most - chosen.len().min(most)));
        for (_, section, set) in sets {
            read(*section, set, &mut Vec::new(), |program| {
                if chosen.remove(&program.id) {
                    self.places.insert(program.id.clone(), self.list.len());
                    self.list.push(program);
                }
            });
        }
    }

    pub(super) fn list(&self) -> &[Program] {
        &self.list
    }

    pub(super) fn list_mut(&mut self) -> &mut [Program] {
        &mut self.list
    }

    /// Where a text is in the list.
    pub(super) fn place(&self, id: &str) -> Option<usize> {
        self.places.get(id).copied()
    }

    pub(super) fn left_out(&self) -> usize {
        self.all - self.list.len()
    }

    /// Whether the folder has any programs, on the page or not.
    pub(super) fn is_any(&self) -> bool {
        self.all > 0
    }

    /// A name that leads to the program's text where that is on the page.
    pub(super) fn link(&self, id: &str, name: &str) -> Markup {
        match self.place(id) {
            Some(place) => html! { a href={ "#program=" (place) } { (name) } },
            None => html! { (name) },
        }
    }

    /// The same with the name that the program has on the page, where it is there.
    pub(super) fn link_by_name(&self, id: &str, otherwise: &str) -> Markup {
        self.link(id, self.place(id).map_or(otherwise, |place| &self.list[place].name))
    }

    /// The part of the page that the script fills.
    pub(super) fn body(&self) -> Markup {
        html! {
            @if self.left_out() > 0 {
                p.note {
                    (figures::count(self.list.len() as u64)) " of "
                    (figures::count(self.all as u64)) " different programs are on this page; "
                    (figures::count(self.left_out() as u64)) " are left out ("
                    code { "--programs N" } " takes more; texts over 64 KiB never are)."
                }
            }
            div #programs {
                div.browser {
                    input #search type="search" placeholder="words, or features: comp>3 lines<20"
                        aria-label="search the programs" aria-describedby="searching";
                    p.note #searching {
                        "Words of the name, package, path or text; " code { "comp>3" } ", " code { "Load<=8" }
                        " or " code { "instcount.Br=0" } " where its vectors are on this page, and " code { "lines<20" } "."
                    }
                    details { summary { "names of features" } dl #dimensions {} }
                    p #shown role="status" {}
                    button #all type="button" hidden { "show all programs" }
                    div.list tabindex="0" role="region" aria-label="programs" { table { thead { tr {
                        th { "kernel" } th { "from" } th { "path" } th.number { "lines" }
                    } } tbody #rows {} } }
                    button #more type="button" hidden { "show more" }
                }
                div.reader #reader {}
            }
        }
    }
}

fn read(
    section: &dyn Section,
    set: &Set,
    problems: &mut Vec<String>,
    mut each: impl FnMut(Program),
) {
    let Ok(Some((_, stream))) = section.programs(set) else { return };
    for program in stream {
        match program {
            Ok(mut program) if !program.text.is_empty() => {
                program.set.clone_from(&set.name);
                each(program);
            }
            Ok(_) => {}
            Err(error) => {
                problems.push(error.to_string());
                return;
            }
        }
    }
}

/// `most` of all, in order, with equal gaps.
pub(super) fn spread<T>(all: Vec<T>, most: usize) -> impl Iterator<Item = T> {
    let count = all.len();
    let taken = most.min(count);
    all.into_iter()
        .enumerate()
        .filter(move |(at, _)| (at + 1) * taken / count > at * taken / count)
        .map(|(_, one)| one)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_is_even_and_never_too_large() {
        let of = |count: usize, most| spread((0..count).collect(), most).collect::<Vec<usize>>();
        assert_eq!(of(10, 5), [1, 3, 5, 7, 9]);
        assert_eq!(of(3, 5), [0, 1, 2]);
        assert_eq!(of(7, 0), [0; 0]);
        assert_eq!(of(0, 4), [0; 0]);
    }
}

//! One kernel with exactly what it needs.

use crate::chunks::{self, Chunk};
use clang::{Declaration, DeclarationKind, Facts, Reference};
use lexer::{Kind, tokens};
use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
};

/// A preprocessed program seen as pieces that need each other.
#[derive(Debug)]
pub(crate) struct Pieces<'a> {
    pub(crate) text: &'a str,
    pub(crate) facts: &'a Facts,
    chunks: Vec<Chunk>,
    /// For each declared entity its pieces in order, and the one that defines it.
    entities: BTreeMap<u32, Entity>,
    /// The facts' references, sorted, and those that clang folds away.
    pub(crate) references: Vec<Reference>,
    /// Places in the facts of what is declared but not defined there, by where that begins.
    undefined: Vec<(u32, u32)>,
    /// Places in the facts of all declarations, by where they are held: see [`place`].
    places: Vec<(u32, u32)>,
}

#[derive(Debug, Default)]
struct Entity {
    pieces: Vec<usize>,
    definition: Option<usize>,
}

/// What is left of a program when all is gone that one kernel does not need.
#[derive(Clone, Debug)]
pub(crate) struct Isolated {
    /// Pieces of the text, in order.
    pub(crate) ranges: Vec<Range<usize>>,
}

impl<'a> Pieces<'a> {
    /// Cut a program that parses.
    pub(crate) fn of(text: &'a str, facts: &'a Facts) -> Pieces<'a> {
        let chunks = chunks::cut(text);
        let mut entities: BTreeMap<u32, Entity> = BTreeMap::new();
        for declaration in &facts.declarations {
            // A parameter of a declaration and of the definition are different things.
            let Some(piece) = piece_at(&chunks, place(declaration) as usize) else { continue };
            let entity = entities.entry(declaration.canonical).or_default();
            if entity.pieces.last() != Some(&piece) {
                entity.pieces.push(piece);
            }
            if declaration.definition && entity.definition.is_none() {
                entity.definition = Some(piece);
            }
        }
        let references = references(text, facts);
        let all = || (0_u32..).zip(&facts.declarations);
        let mut undefined: Vec<(u32, u32)> = all()
            .filter(|(_, found)| !found.definition && is_named_elsewhere(found.kind))
            .map(|(at, found)| (found.begin, at))
            .collect();
        undefined.sort_unstable();
        let mut places: Vec<(u32, u32)> = all().map(|(at, found)| (place(found), at)).collect();
        places.sort_unstable();
        Pieces { text, facts, chunks, entities, references, undefined, places }
    }

    /// Places in the facts of the declarations that a program holds, in their order there.
    pub(crate) fn declarations(&self, isolated: &Isolated) -> Vec<u32> {
        let mut held: Vec<u32> =
            isolated.ranges.iter().flat_map(|range| within(&self.places, range)).collect();
        held.sort_unstable();
        held
    }

    /// The references that a program holds, in order.
    pub(crate) fn references_in(&self, range: &Range<usize>) -> &[Reference] {
        let at = |offset| self.references.partition_point(|one| (one.offset as usize) < offset);
        &self.references[at(range.start)..at(range.end)]
    }

    /// The program of one kernel, by the index of its declaration.
    pub(crate) fn isolate(&self, kernel: u32) -> Isolated {
        let mut taken = BTreeSet::new();
        let declaration = &self.facts.declarations[kernel as usize];
        let start = piece_at(&self.chunks, declaration.begin as usize);
        let mut waiting: Vec<usize> = start.into_iter().collect();
        taken.extend(start);
        while let Some(piece) = waiting.pop() {
            for need in self.needs(piece) {
                if taken.insert(need) {
                    waiting.push(need);
                }
            }
        }
        let ranges = taken.into_iter().map(|piece| self.chunks[piece].range.clone()).collect();
        Isolated { ranges }
    }

    /// The pieces that one refers to: definitions, and a declaration where the definition comes
    /// later.
    fn needs(&self, piece: usize) -> Vec<usize> {
        let range = &self.chunks[piece].range;
        let mut needs = Vec::new();
        for reference in self.references_in(range) {
            self.need(reference.declaration, piece, &mut needs);
        }
        // A tag that is declared here and defined elsewhere is referred to by its declaration.
        for at in within(&self.undefined, range) {
            self.need(self.facts.declarations[at as usize].canonical, piece, &mut needs);
        }
        needs
    }

    fn need(&self, entity: u32, user: usize, needs: &mut Vec<usize>) {
        let Some(entity) = self.entities.get(&entity) else { return };
        let defined = entity.definition.or(entity.pieces.first().copied());
        needs.extend(defined);
        if defined.is_some_and(|defined| defined > user) {
            needs.extend(entity.pieces.first());
        }
    }

    /// Pragmas of file scope that change what follows them.
    pub(crate) fn pragmas(&self) -> impl Iterator<Item = &str> {
        self.chunks
            .iter()
            .map(|chunk| &self.text[chunk.range.clone()])
            .filter(|text| text.starts_with('#'))
    }
}

/// The uses of declared names, with those of samplers: clang puts a sampler's value in place of
/// its name where it is an argument, and reports no use of it.
fn references(text: &str, facts: &Facts) -> Vec<Reference> {
    let samplers: BTreeMap<&str, u32> = facts
        .declarations
        .iter()
        .filter(|found| {
            found.kind == DeclarationKind::Variable && found.type_name.contains("sampler_t")
        })
        .map(|found| (found.name.as_str(), found.canonical))
        .collect();
    let mut references = facts.references.clone();
    if samplers.is_empty() {
        return references;
    }
    let named: BTreeSet<u32> = facts
        .declarations
        .iter()
        .filter_map(|found| found.name_offset)
        .chain(references.iter().map(|reference| reference.offset))
        .collect();
    for token in tokens(text).filter(|token| token.kind == Kind::Word) {
        let offset = token.begin as u32;
        if let Some(&declaration) = samplers.get(token.text)
            && !named.contains(&offset)
        {
            references.push(Reference { offset, length: token.text.len() as u32, declaration });
        }
    }
    references.sort_by_key(|reference| reference.offset);
    references
}

/// Where a declaration is held: at its name, where it has one.
fn place(declaration: &Declaration) -> u32 {
    declaration.name_offset.unwrap_or(declaration.begin)
}

/// Whether its name alone may be meant where it is declared, and its definition stand elsewhere.
fn is_named_elsewhere(kind: DeclarationKind) -> bool {
    matches!(
        kind,
        DeclarationKind::Record
            | DeclarationKind::Function
            | DeclarationKind::Kernel
            | DeclarationKind::Variable
            | DeclarationKind::Enumeration
    )
}

/// What stands at offsets within `range`, of a list that these sort.
fn within(sorted: &[(u32, u32)], range: &Range<usize>) -> impl Iterator<Item = u32> {
    let at = |offset| sorted.partition_point(|(begin, _)| (*begin as usize) < offset);
    sorted[at(range.start)..at(range.end)].iter().map(|(_, what)| *what)
}

fn piece_at(chunks: &[Chunk], offset: usize) -> Option<usize> {
    let at = chunks.partition_point(|chunk| chunk.range.end <= offset);
    (at < chunks.len() && chunks[at].range.start <= offset).then_some(at)
}

impl Isolated {
    /// The program's text, as it was spelled.
    pub(crate) fn text(&self, of: &str) -> String {
        let mut text = String::new();
        for range in &self.ranges {
            text.push_str(&of[range.clone()]);
            text.push('\n');
        }
        text
    }
}

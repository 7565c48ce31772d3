//! One kernel with exactly what it needs.

use crate::{
    chunks::{self, Chunk},
    lexer::{Kind, tokens},
};
use clang::{DeclarationKind, Facts, Reference};
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
            let place = declaration.name_offset.unwrap_or(declaration.begin) as usize;
            let Some(piece) = piece_at(&chunks, place) else { continue };
            let entity = entities.entry(declaration.canonical).or_default();
            if entity.pieces.last() != Some(&piece) {
                entity.pieces.push(piece);
            }
            if declaration.definition && entity.definition.is_none() {
                entity.definition = Some(piece);
            }
        }
        let references = references(text, facts);
        Pieces { text, facts, chunks, entities, references }
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
        let references = &self.references;
        let first =
            references.partition_point(|reference| (reference.offset as usize) < range.start);
        let mut needs = Vec::new();
        for reference in references[first..]
            .iter()
            .take_while(|reference| (reference.offset as usize) < range.end)
        {
            self.need(reference.declaration, piece, &mut needs);
        }
        // A tag that is declared here and defined elsewhere is referred to by its declaration.
        for declaration in &self.facts.declarations {
            let begin = declaration.begin as usize;
            if range.contains(&begin)
                && matches!(
                    declaration.kind,
                    DeclarationKind::Record
                        | DeclarationKind::Function
                        | DeclarationKind::Kernel
                        | DeclarationKind::Variable
                        | DeclarationKind::Enumeration
                )
                && !declaration.definition
            {
                self.need(declaration.canonical, piece, &mut needs);
            }
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

    /// Whether an offset stands in it.
    pub(crate) fn holds(&self, offset: usize) -> bool {
        let at = self.ranges.partition_point(|range| range.end <= offset);
        self.ranges.get(at).is_some_and(|range| range.start <= offset)
    }
}

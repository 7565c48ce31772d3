use super::{Extracted, FeatureSpace};
use crate::{Part, ProgramView};

/// The shape of the syntax tree: its depth (a declaration at file scope has depth 1) and its nodes,
/// implicit conversions included, absent parts (`for (;;)`) not.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ast;

impl FeatureSpace for Ast {
    fn name(&self) -> &'static str {
        "ast-depth"
    }

    fn dimensions(&self) -> Vec<&'static str> {
        vec!["depth", "nodes"]
    }

    fn parts(&self) -> &'static [Part] {
        &[Part::Tree]
    }

    fn extract(&self, program: &ProgramView<'_>) -> Option<Extracted> {
        let tree = program.tree?;
        let absent = tree.strings.iter().position(|text| text == "Null");
        let (mut depth, mut nodes) = (0, 0_u32);
        // Where the subtrees of the nodes around the current one end.
        let mut around: Vec<usize> = Vec::new();
        for (index, node) in tree.nodes.iter().enumerate() {
            while around.last().is_some_and(|end| *end <= index) {
                around.pop();
            }
            if Some(node.kind as usize) == absent {
                continue;
            }
            around.push(index + node.size as usize);
            depth = depth.max(around.len());
            nodes += 1;
        }
        let depth = u32::try_from(depth).unwrap_or(u32::MAX);
        Some(Extracted::Whole(vec![f64::from(depth), f64::from(nodes)]))
    }
}

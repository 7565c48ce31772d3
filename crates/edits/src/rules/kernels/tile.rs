//! What all work-items of a group read in a loop they bring to local memory together, 64 elements at a time.

use super::{
    Pieces, Syntax,
    flow::{self, Counted},
};
use std::collections::HashSet;

/// Elements of a tile.
const TILE: usize = 64;

pub(super) fn edits(kernel: &Syntax<'_>) -> Vec<Pieces> {
    // Work-items that have left do not come to a barrier.
    if kernel.of_kind("ReturnStmt").next().is_some() {
        return Vec::new();
    }
    let own = of_one_item(kernel);
    let innermost =
        flow::loops(kernel).into_iter().filter(|one| flow::is_innermost(kernel, one.at));
    let mut counted = innermost.filter_map(|one| flow::counted(kernel, one));
    counted.find_map(|one| tiled(kernel, &one, &own)).into_iter().collect()
}

fn tiled(kernel: &Syntax<'_>, one: &Counted, own: &HashSet<u32>) -> Option<Pieces> {
    let body = body_of(kernel, one.whole.at, own)?;
    let of_group = |at: usize| !depends(kernel, at, own);
    let [init, condition] = [one.whole.init, one.whole.condition];
    if flow::leaves(kernel, one.whole.body) || !of_group(init) || !of_group(condition) {
        return None;
    }
    let elements = flow::elements(kernel, one.whole.body);
    let (mut fills, mut declared, mut pieces) = (String::new(), String::new(), Pieces::new());
    let mut known: Vec<(&str, String)> = Vec::new();
    for element in &elements {
        let is_written = flow::is_written(kernel, &elements, element.buffer);
        let Some(ty) = flow::read_as(kernel, element.node).filter(|ty| flow::is_number(ty)) else {
            continue;
        };
        let counts = flow::names(kernel, element.index, one.counter) > 0;
        let is_shared =
            counts && of_group(element.index) && only_counts(kernel, one, element.index);
        let is_global = kernel.type_of(element.node).contains("__global");
        if is_written || !is_shared || !is_global {
            continue;
        }
        let (range, text) = (kernel.range(element.node)?, kernel.source_of(element.node)?);
        let name = match known.iter().find(|(same, _)| *same == text) {
            Some((_, name)) => name.clone(),
            None => {
                let name = format!("tile_{}", range.start);
                declared += &format!(" __local {ty} {name}[{TILE}];");
                fills += &format!(" {name}[item] = {text};");
                known.push((text, name.clone()));
                name
            }
        };
        pieces.push((range, format!("{name}[{} - tile]", one.name)));
    }
    if pieces.is_empty() {
        return None;
    }
    let inner = flow::with(kernel, flow::whole_of(kernel, one.whole.body)?, &pieces);
    let Counted { name, ty, first, bound, .. } = one;
    let text = format!(
        "for ({ty} tile = {first}; tile < {bound}; tile += {TILE}) {{\n\
         barrier(CLK_LOCAL_MEM_FENCE);\n\
         for (int item = get_local_id(0) + get_local_size(0) * (get_local_id(1) + get_local_size(1) * get_local_id(2)); \
         item < {TILE} && tile + item < {bound}; item += get_local_size(0) * get_local_size(1) * get_local_size(2)) \
         {{ const {ty} {name} = tile + item;{fills} }}\n\
         barrier(CLK_LOCAL_MEM_FENCE);\n\
         for ({ty} {name} = tile; {name} < tile + {TILE} && {name} < {bound}; {name}++) {inner}\n}}"
    );
    let start = kernel.range(body)?.start + 1;
    Some(vec![(start..start, declared), (flow::whole_of(kernel, one.whole.at)?, text)])
}

/// Whether an index is of the counter and of what the loop leaves.
fn only_counts(kernel: &Syntax<'_>, one: &Counted, index: usize) -> bool {
    kernel.subtree(index).all(|at| match kernel.kind(at) {
        "DeclRefExpr" => kernel.declaration(at).is_some_and(|variable| {
            variable == one.counter
                || !kernel.may_change(one.whole.at, variable)
                    && !super::hoist::is_declared_in(kernel, one.whole.at, variable)
        }),
        "CallExpr" | "ArraySubscriptExpr" => false,
        _ => true,
    })
}

/// The kernel's own block, where a loop stands in nothing but blocks and loops that all work-items of a group do alike.
fn body_of(kernel: &Syntax<'_>, mut at: usize, own: &HashSet<u32>) -> Option<usize> {
    loop {
        let above = kernel.parent(at)?;
        match kernel.kind(above) {
            "CompoundStmt" => {}
            "ForStmt" => {
                let one = flow::loop_at(kernel, above)?;
                let mut parts = [one.init, one.condition, one.increment].into_iter();
                if flow::leaves(kernel, one.body) || parts.any(|part| depends(kernel, part, own)) {
                    return None;
                }
            }
            "FunctionDecl" => {
                let head =
                    kernel.source.get(kernel.range(above)?.start..kernel.range(at)?.start)?;
                let is_kernel = head
                    .split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
                    .any(|word| word == "__kernel" || word == "kernel");
                return is_kernel.then_some(at);
            }
            _ => return None,
        }
        at = above;
    }
}

/// Variables that differ among the work-items of a group, as far as can be told: what is made of their place or read of memory,
/// and all that is set where that decides.
fn of_one_item(kernel: &Syntax<'_>) -> HashSet<u32> {
    let mut own = HashSet::new();
    loop {
        let before = own.len();
        for at in kernel.all() {
            let (variable, value) = match kernel.kind(at) {
                "VarDecl" => (kernel.declaration(at), kernel.children(at).first().copied()),
                "BinaryOperator" | "CompoundAssignOperator" if flow::is_assignment(kernel, at) => {
                    let children = kernel.children(at);
                    (
                        children.first().and_then(|left| kernel.variable(*left)),
                        children.get(1).copied(),
                    )
                }
                "UnaryOperator" if ["++", "--"].contains(&kernel.text(at)) => {
                    let children = kernel.children(at);
                    (children.first().and_then(|one| kernel.variable(*one)), None)
                }
                _ => continue,
            };
            let is_own = value.is_some_and(|value| depends(kernel, value, &own))
                || is_decided(kernel, at, &own);
            own.extend(variable.filter(|_| is_own));
        }
        if own.len() == before {
            return own;
        }
    }
}

/// Whether a condition that differs among work-items decides whether a node is reached.
fn is_decided(kernel: &Syntax<'_>, mut at: usize, own: &HashSet<u32>) -> bool {
    while let Some(above) = kernel.parent(at) {
        let conditions: Vec<usize> = match kernel.kind(above) {
            "IfStmt" | "SwitchStmt" | "WhileStmt" => {
                kernel.children(above).into_iter().take(1).collect()
            }
            // All but the body.
            "ForStmt" => kernel.children(above).into_iter().take(4).collect(),
            "DoStmt" => kernel.children(above).into_iter().skip(1).collect(),
            _ => Vec::new(),
        };
        if conditions.iter().any(|condition| depends(kernel, *condition, own)) {
            return true;
        }
        at = above;
    }
    false
}

fn depends(kernel: &Syntax<'_>, value: usize, own: &HashSet<u32>) -> bool {
    const OF_GROUP: [&str; 6] = [
        "get_group_id",
        "get_local_size",
        "get_global_size",
        "get_num_groups",
        "get_work_dim",
        "get_global_offset",
    ];
    let calls = kernel.calls(value);
    calls.iter().any(|(_, name)| !OF_GROUP.contains(name))
        || kernel.subtree(value).any(|at| match kernel.kind(at) {
            "DeclRefExpr" => kernel.declaration(at).is_some_and(|variable| own.contains(&variable)),
            "ArraySubscriptExpr" => true,
            "UnaryOperator" => kernel.text(at) == "*",
            _ => false,
        })
}

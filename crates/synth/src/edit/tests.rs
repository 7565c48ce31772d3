//! What edits do to vectors, with the real compiler.

use super::{Rng, Zone, all};
use crate::{Judge, program::Program};
use rand::SeedableRng;
use std::collections::BTreeMap;

fn judge(space: &str) -> Judge {
    Judge::new(features::space(space).expect("registered"), 2)
        .unwrap_or_else(|error| panic!("{error}"))
}

/// What the edit does to the kernel, by dimension; ratios and sums left out.
fn effect(judge: &Judge, name: &str, zone: Zone, text: &str) -> (Program, BTreeMap<String, i64>) {
    let mut program = judge.read(&[text]).pop().flatten().expect("a kernel");
    let edit = all().into_iter().find(|edit| edit.name == name && edit.zone == zone);
    let edit = edit.unwrap_or_else(|| panic!("no edit {name} in {zone:?}"));
    edit.apply(&mut program, &mut Rng::seed_from_u64(1)).expect("there is a place for it");
    let after = program.to_string();
    let mut vectors = judge.judge(&[text, &after]).expect("LLVM is here").into_iter().flatten();
    let (Some(before), Some(now)) = (vectors.next(), vectors.next()) else {
        panic!("{name} made what does not compile: {after}")
    };
    let follows = judge.space().follows();
    let changed = judge.space().dimensions().into_iter().zip(before.iter().zip(now));
    let changed = changed
        .filter(|(dimension, (before, now))| !follows.contains(dimension) && *before != now)
        .map(|(dimension, (before, now))| (dimension.to_owned(), (now - before) as i64));
    (program, changed.collect())
}

/// An edit, where it is made, and what it changes by how much.
type Case<'a> = (&'a str, Zone, &'a [(&'a str, i64)]);

fn expect(space: &str, text: &str, cases: &[Case<'_>]) {
    let judge = judge(space);
    for (name, zone, expected) in cases {
        let expected: BTreeMap<String, i64> =
            expected.iter().map(|(dimension, by)| ((*dimension).to_owned(), *by)).collect();
        let (program, changed) = effect(&judge, name, *zone, text);
        assert_eq!(changed, expected, "{name} in {zone:?}: {program}");
    }
}

#[test]
fn memory_is_reached_in_every_way_that_the_published_features_tell_apart() {
    let kernel = "__kernel void A(__global int* a, int b, int c) {\n  a[b] = c;\n}\n";
    expect(
        "grewe",
        kernel,
        &[
            ("store-through", Zone::Top, &[("mem", 1)]),
            ("store-behind", Zone::Top, &[("mem", 1), ("comp", 1)]),
            ("follow-instead", Zone::Value, &[("mem", 1)]),
            ("declare-pointer", Zone::Top, &[("mem", 1)]),
            ("declare-and-fill", Zone::Top, &[("mem", 1), ("coalesced", 4)]),
            ("store-local", Zone::Top, &[("mem", 1), ("localmem", 1)]),
            ("local-instead", Zone::Value, &[("mem", 1), ("localmem", 1)]),
            ("index-strided", Zone::Index, &[("comp", 1), ("coalesced", -1)]),
            ("compare", Zone::Value, &[("rational", 1)]),
        ],
    );
    let kernel = "__kernel void A(__global int* a, int b, int c) {\n  __global int* d = a;\n  \
                  if (b < c) {\n    d[b] = a[c];\n  }\n}\n";
    expect(
        "grewe",
        kernel,
        &[
            ("store-by-pointer", Zone::Branch, &[("coalesced", 1)]),
            ("to-local", Zone::Value, &[("coalesced", -1), ("localmem", 1)]),
            ("by-variable", Zone::Value, &[("mem", -1)]),
        ],
    );
}

#[test]
fn accesses_are_taken_away_in_every_way_too() {
    let kernel = "__kernel void A(__global int* a, __global int* b, int c) {\n  \
                  a[c] = b[c];\n  atomic_add(b, c);\n}\n";
    expect(
        "grewe",
        kernel,
        &[
            ("index-to-follow", Zone::Value, &[("coalesced", -1)]),
            ("store-to-follow", Zone::Top, &[("coalesced", -1)]),
            ("without-atomic", Zone::Top, &[("atomic", -1), ("mem", -1)]),
        ],
    );
    let kernel = "__kernel void A(__global int* a, int c) {\n  __global int* d = a;\n  \
                  d[c] = 1;\n  a[c] = c;\n}\n";
    expect("grewe", kernel, &[("unstore-by-variable", Zone::Top, &[("coalesced", -1)])]);
}

#[test]
fn pointer_variables_are_shared() {
    let kernel = "__kernel void A(__global int* a, __global int* b, int c) {\n  \
                  __global int* d = a;\n  d[c] = 1;\n  __global int* e = b;\n  e[0] = c;\n  \
                  if (c > 3) {\n    e[c] = 2;\n  }\n}\n";
    expect("grewe", kernel, &[("share-pointer", Zone::Any, &[("mem", -1)])]);
}

#[test]
fn operations_are_undone_alone() {
    let kernel = "__kernel void A(__global int* a, __global float* b, int c, float d, long e) {\n  \
                  a[e] = (c & 5) + (int)d;\n  b[0] = d * 2.5f;\n  \
                  b[3] = 2.5f - d;\n  a[1] = c;\n}\n";
    expect(
        "instcount",
        kernel,
        &[
            ("without-and", Zone::Value, &[("And", -1)]),
            ("without-multiply-float", Zone::Value, &[("FMul", -1)]),
            ("without-subtract-float", Zone::Value, &[("FSub", -1)]),
            ("unconvert-float-to-int", Zone::Value, &[("FPToSI", -1)]),
            ("unstore", Zone::Top, &[("Store", -1), ("GetElementPtr", -1)]),
            ("index-fixed", Zone::Index, &[("GetElementPtr", -1)]),
        ],
    );
}

#[test]
fn operations_are_done_alone() {
    let kernel = "__kernel void A(__global float* a, float b) {\n  a[0] = b;\n}\n";
    expect(
        "instcount",
        kernel,
        &[
            ("negate-float", Zone::Value, &[("FNeg", 1)]),
            ("index-wide", Zone::Index, &[("GetElementPtr", 1)]),
        ],
    );
}

#[test]
fn the_first_call_of_a_function_declares_it() {
    let kernel = "__kernel void A(__global float* a, __global int* b, float c, int d, long e) {\n  \
                  a[0] = sqrt(c) + c;\n  b[get_local_id(0)] = d;\n  b[e] = d;\n}\n";
    expect(
        "autophase",
        kernel,
        &[
            ("call-float", Zone::Value, &[("NumCallInst", 1), ("TotalInsts", 1)]),
            (
                "call-float-first",
                Zone::Value,
                &[("NumCallInst", 1), ("TotalInsts", 1), ("TotalFuncs", 1)],
            ),
            (
                "call-integer-first",
                Zone::Value,
                &[("NumCallInst", 1), ("TotalInsts", 1), ("TotalFuncs", 1), ("returnInt", 1)],
            ),
            (
                "uncall-float-last",
                Zone::Value,
                &[("NumCallInst", -1), ("TotalInsts", -1), ("TotalFuncs", -1)],
            ),
            (
                "fence-first",
                Zone::Top,
                &[("NumCallInst", 1), ("TotalInsts", 1), ("TotalFuncs", 1), ("const32Bit", 1)],
            ),
        ],
    );
}

#[test]
fn a_loop_remembers_a_value_at_the_cost_of_one_phi() {
    let kernel = "__kernel void A(__global int* a, int b, __global float* c, float d) {\n  \
                  for (int e = 0; e < b; e++) {\n    a[e] = b;\n    c[e] = d;\n  }\n}\n";
    expect("instcount", kernel, &[("previous-value", Zone::Top, &[("PHI", 1)])]);
}

#[test]
fn edits_of_shape_survive_the_optimiser() {
    let judge = judge("autophase");
    let kernel = "__kernel void A(__global int* a, __global float* b, int c, int d, long e) {\n  \
                  if (c > d && a[0] < d) {\n    return;\n  }\n  \
                  for (int f = 0; f < c; f++) {\n    a[f + d] = d;\n    \
                  if (a[f] == 3) {\n      b[f] = 3.5f;\n    }\n  }\n  \
                  if (c < d) {\n    b[e] = 1.5f;\n  }\n}\n";
    let before = judge.judge(&[kernel]).expect("LLVM is here").pop().flatten().expect("compiles");
    for (name, zones, apply) in super::shape::EDITS {
        let mut texts = Vec::new();
        for zone in *zones {
            for seed in 0..6 {
                let mut program = judge.read(&[kernel]).pop().flatten().expect("a kernel");
                if apply(&mut program, *zone, &mut Rng::seed_from_u64(seed)).is_some() {
                    texts.push(program.to_string());
                }
            }
        }
        assert!(!texts.is_empty(), "there is no place for {name}");
        // Where it is made decides what is left of it: a way out of a loop at its end is none.
        let after = judge.judge(&texts).expect("LLVM is here");
        let survives = after.iter().flatten().any(|vector| *vector != before);
        assert!(survives, "{name} changes nothing: {}", texts[0]);
    }
}

#[test]
fn a_sign_is_widened_by_two_shifts() {
    let kernel = "__kernel void A(__global int* a, int b, int c) {\n  a[0] = b + c;\n}\n";
    let changes = [
        ("NumShlInst", 1),
        ("NumAShrInst", 1),
        ("TotalInsts", 2),
        ("binaryConstArg", 2),
        ("const32Bit", 2),
    ];
    expect("autophase", kernel, &[("through-signed", Zone::Value, &changes)]);
}

#[test]
fn edits_have_names_of_their_own() {
    let mut names: Vec<(&str, Zone)> = all().iter().map(|edit| (edit.name, edit.zone)).collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count);
}

#[test]
fn helpers_leave_the_module_and_stay_in_it() {
    let kernel =
        "int B(int a) { return a ^ 5; }\n__kernel void A(__global int* a) { a[0] = B(a[1]); }\n";
    let leaves = [
        ("NumRetInst", -1),
        ("NumXorInst", -1),
        ("TotalBlocks", -1),
        ("TotalFuncs", -1),
        ("TotalInsts", -2),
        ("binaryConstArg", -1),
        ("const32Bit", -1),
    ];
    expect("autophase", kernel, &[("static-helpers", Zone::Any, &leaves)]);
    let stays: Vec<(&str, i64)> = leaves.iter().map(|(name, by)| (*name, -by)).collect();
    expect("autophase", &format!("static {kernel}"), &[("shared-helper", Zone::Any, &stays)]);
}

#[test]
fn loops_elements_and_dimensions_change_alone() {
    let kernel = "__kernel void A(__global float* a, int b, int c, int d) {\n  float e = 0.0f;\n  for \
                  (int f = 0; f < b; f++) {\n    e += a[(f ^ 5) + c * d];\n  }\n  a[0] = e;\n}\n";
    let no_block = [
        ("CriticalCount", 1),
        ("NumBrInst", -1),
        ("TotalBlocks", -1),
        ("TotalInsts", -1),
        ("UncondBranches", -1),
        ("onePred", -1),
        ("onePredOneSuc", -1),
    ];
    expect("autophase", kernel, &[("vary-invariants", Zone::Top, &no_block)]);
    let kernel = "__kernel void A(__global int* a, __global int* b) {\n  int c = \
                  get_global_id(0);\n  b[c] = a[c] + 1;\n}\n";
    expect(
        "autophase",
        kernel,
        &[
            ("elements-char", Zone::Any, &[("const32Bit", -1)]),
            ("dimension-one", Zone::Value, &[("numConstOnes", 1), ("numConstZeroes", -1)]),
        ],
    );
    let kernel = "__kernel void A(__global int* a) {\n  a[1] = 5;\n  \
                  barrier(CLK_GLOBAL_MEM_FENCE);\n}\n";
    expect("autophase", kernel, &[("fence-local", Zone::Any, &[("numConstOnes", 1)])]);
    let local = kernel.replace("GLOBAL", "LOCAL");
    expect("autophase", &local, &[("fence-global", Zone::Any, &[("numConstOnes", -1)])]);
}

#[test]
fn a_fence_for_the_right_memory_and_one_inside_a_switch_are_left_alone() {
    let judge = judge("autophase");
    let has_place = |name: &str, text: &str| {
        let program = judge.read(&[text]).pop().flatten().expect("a kernel");
        all().into_iter().filter(|edit| edit.name == name).any(|edit| {
            let mut edited = program.clone();
            let applied = edit.apply(&mut edited, &mut Rng::seed_from_u64(1));
            applied.is_some() && edited != program
        })
    };
    let fence = "__kernel void A(__global int* a) {\n  barrier(CLK_GLOBAL_MEM_FENCE);\n}\n";
    assert!(!has_place("fence-global", fence));
    assert!(has_place("fence-local", fence) && has_place("unfence", fence));
    let scoped = fence.replace(
        "barrier(CLK_GLOBAL_MEM_FENCE)",
        "work_group_barrier(CLK_LOCAL_MEM_FENCE, memory_scope_device)",
    );
    assert!(!has_place("fence-local", &scoped) && has_place("fence-global", &scoped));
    let inside = "__kernel void A(__global int* a, int b) {\n  switch (b) {\n  case 1:\n    a[0] = \
                  1;\n  default:\n    barrier(CLK_LOCAL_MEM_FENCE);\n  }\n}\n";
    assert!(!has_place("unfence", inside));
}

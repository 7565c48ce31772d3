//! What edits do to vectors, with the real compiler.

use super::{Edit, Rng, Zone, all, natural::own};
use crate::Judge;
use rand::SeedableRng;
use std::collections::{BTreeMap, BTreeSet};

fn judge(space: &str) -> Judge {
    Judge::new(features::space(space).expect("registered"), 2)
        .unwrap_or_else(|error| panic!("{error}"))
}

/// What the edit does to the kernel, by dimension; ratios and sums left out.
fn effect(judge: &Judge, edit: &Edit, text: &str) -> BTreeMap<String, i64> {
    let mut program = judge.read(&[text]).pop().flatten().expect("a kernel");
    edit.apply(&mut program, &mut Rng::seed_from_u64(1)).expect("there is a place for it");
    let after = program.to_string();
    let mut vectors = judge.judge(&[text, &after]).expect("LLVM is here").into_iter().flatten();
    let (Some(before), Some(now)) = (vectors.next(), vectors.next()) else {
        panic!("{} made what does not compile: {after}", edit.name)
    };
    let follows = judge.space().follows();
    let changed = judge.space().dimensions().into_iter().zip(before.iter().zip(now));
    let changed = changed
        .filter(|(dimension, (before, now))| !follows.contains(dimension) && *before != now)
        .map(|(dimension, (before, now))| (dimension.to_owned(), (now - before) as i64));
    changed.collect()
}

/// Each case names a space, then the edits that are tried, each with the zone and what it changes, then the kernel.
#[test]
fn each_edit_changes_the_dimensions_that_it_says() {
    let mut judges = BTreeMap::new();
    cases::inside("cases/edits", |_, case| {
        let (heads, kernel): (Vec<&str>, Vec<&str>) =
            case.lines().partition(|line| line.starts_with("// "));
        let kernel: String = kernel.into_iter().flat_map(|line| [line, "\n"]).collect();
        let space = heads[0].trim_start_matches("// ");
        let judge = judges.entry(space.to_owned()).or_insert_with(|| judge(space));
        let mut found = format!("// {space}\n");
        for head in &heads[1..] {
            let words: Vec<&str> = head.split([' ', ':']).collect();
            let (name, zone) = (words[1], words[2]);
            let mut edits = all().into_iter().filter(|edit| edit.name == name);
            let edit = edits.find(|edit| format!("{:?}", edit.zone) == zone);
            let edit = edit.unwrap_or_else(|| panic!("no edit {name} in {zone}"));
            let changed = effect(judge, &edit, &kernel);
            let changed: Vec<String> =
                changed.iter().map(|(dimension, by)| format!("{dimension} {by:+}")).collect();
            found += &format!("// {name} {zone}: {}\n", changed.join(", "));
        }
        found + &kernel
    });
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
fn edits_of_how_a_kernel_is_written_leave_where_it_lies() {
    let judge = judge("instcount");
    let kernel = "__kernel void A(__global float* a, __global float* b, __global int* c, int d, float e) {\n  \
                  int f = (int)get_global_id(0 + d);\n  a[f] = a[f] + e * (float)3.5f;\n  \
                  if (0 == c[f]) {\n    return;\n    c[d] = 2;\n  }\n  b[(int)(0 + d)] = fmax(e, e);\n  b[d] *= 7.0f;\n  c[d] = 1;\n  \
                  size_t h = get_global_id(1);\n  int i = get_global_id(1);\n  int j = get_global_id(1);\n  \
                  c[d << 1] = i + j;\n  b[get_global_id(1)] = a[get_global_id(2)];\n  {\n    int g = get_global_id(0);\n    \
                  c[g] += d;\n  }\n  a[get_global_id(0)] = e;\n}\n";
    let place = |text: &str| judge.judge(&[text]).expect("LLVM is here").pop().flatten();
    let before = place(kernel).expect("it compiles");
    for edit in own() {
        let (mut made, mut stays) = (0, 0);
        for seed in 0..40 {
            let mut program = judge.read(&[kernel]).pop().flatten().expect("a kernel");
            let applied = edit.apply(&mut program, &mut Rng::seed_from_u64(seed));
            let text = program.to_string();
            if applied.is_some() && text != kernel {
                made += 1;
                stays += usize::from(place(&text).as_ref() == Some(&before));
            }
        }
        assert!(made > 0, "there is no place for {}", edit.name);
        assert!(stays > 0, "{} leaves nothing where it was, of {made}", edit.name);
    }
}

#[test]
fn edits_without_races_are_some_of_all() {
    let (all, defined) = (all(), super::defined());
    let has = |edits: &[Edit], name: &str| edits.iter().any(|edit| edit.name == name);
    assert!(has(&defined, "store-own") && has(&all, "store-at") && !has(&defined, "store-at"));
    // Each name that is left out is one of an edit.
    let names = |edits: &[Edit]| edits.iter().map(|edit| edit.name).collect::<BTreeSet<_>>().len();
    assert_eq!(names(&all) - names(&defined), 15);
}

#[test]
fn edits_have_names_of_their_own() {
    let all = all().into_iter().chain(own());
    let mut names: Vec<(&str, Zone)> = all.map(|edit| (edit.name, edit.zone)).collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count);
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
    // Which memory it is for is no number among others.
    assert!(!has_place("change-literal", "__kernel void A(__global int* a) {\n  barrier(1);\n}\n"));
    let inside = "__kernel void A(__global int* a, int b) {\n  switch (b) {\n  case 1:\n    a[0] = \
                  1;\n  default:\n    barrier(CLK_LOCAL_MEM_FENCE);\n  }\n}\n";
    assert!(!has_place("unfence", inside));
}

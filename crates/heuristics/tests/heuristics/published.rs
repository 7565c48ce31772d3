//! Published results recomputed.

use flate2::read::GzDecoder;
use serde_json::Value;
use stampmill_heuristics::{ReproduceOptions, Reproduction, reproduce};
use std::fs;

/// The published data that ship, unpacked.
fn data() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(trials::facts("cgo17")).unwrap() {
        let from = entry.unwrap().path();
        let name = from.file_name().unwrap().to_str().unwrap();
        match name.strip_suffix(".gz").filter(|name| !name.ends_with("-features.csv")) {
            Some(plain) => {
                let mut packed = GzDecoder::new(fs::File::open(&from).unwrap());
                let mut file = fs::File::create(folder.path().join(plain)).unwrap();
                std::io::copy(&mut packed, &mut file).unwrap();
            }
            None => drop(fs::copy(&from, folder.path().join(name)).unwrap()),
        }
    }
    folder
}

fn recomputed(seeds: u32) -> (Reproduction, Value) {
    let data = data();
    let text = fs::read_to_string(data.path().join("expected.json")).unwrap();
    let data = data.path().to_owned();
    let options = ReproduceOptions { recipe: "cgo17".to_owned(), data, seeds };
    (reproduce(&options).unwrap(), serde_json::from_str(&text).unwrap())
}

/// A number at a path of keys and places.
fn at(value: &Value, path: &str) -> f64 {
    let path = format!("/{}", path.replace(' ', "/"));
    value.pointer(&path).and_then(Value::as_f64).unwrap_or_else(|| panic!("no number at {path}"))
}

#[track_caller]
fn near(found: f64, expected: f64, tolerance: f64, what: &str) {
    assert!((found - expected).abs() <= tolerance, "{what}: {found}, published {expected}");
}

#[test]
fn recomputes_the_cgo17_results_as_the_reference_states_them() {
    let (found, expected) = recomputed(3);
    let numbers = &found.numbers;

    let table = &expected["table1_amd_percent_of_oracle"]["invariant_to_tie_breaking"];
    let mut cells = 0;
    for (tested, row) in table.as_object().unwrap() {
        for (training, expected) in row.as_object().unwrap() {
            let (cell, expected) = (format!("{tested} {training}"), expected.as_f64().unwrap());
            near(at(numbers, &format!("table1 amd {cell}")), expected, 0.1, &cell);
            for end in 0..2 {
                let range = format!("table1_range amd {cell} {end}");
                near(at(numbers, &range), expected, 0.1, &range);
            }
            cells += 1;
        }
    }
    for suite in ["AMD", "NPB", "NVIDIA", "Parboil", "Polybench", "Rodinia", "SHOC"] {
        let expected = if suite == "NPB" { 99.9 } else { 100.0 };
        near(at(numbers, &format!("table1 amd {suite} {suite}")), expected, 0.1, suite);
        cells += 1;
    }
    assert_eq!(cells, 28);

    let seven = &expected["figure7_npb"];
    let published = &seven["paper_recipe_predicted_over_static_arithmetic_mean_of_groups"];
    let right = &seven["right_orientation_static_over_predicted"];
    for platform in ["amd", "nvidia"] {
        let ours = &numbers["figure7"][platform];
        for side in 0..2 {
            let seed = at(&published["sklearn_0.18_seed_204"], &format!("{platform} {side}"));
            near(at(ours, &format!("paper_formula {side}")), seed, 0.000_06, platform);
            let fixed = at(&published["fixed_order_ties"], &format!("{platform} {side}"));
            let formula = at(ours, &format!("fixed_order_ties paper_formula {side}"));
            near(formula, fixed, 0.000_6, platform);
            for number in ["accuracy", "geomean"] {
                let expected = at(right, &format!("{number} {platform} {side}"));
                let found = at(ours, &format!("right_orientation {number} {side}"));
                near(found, expected, 0.000_6, number);
            }
        }
        let oracle = at(right, &format!("oracle_geomean {platform}"));
        near(at(ours, "right_orientation oracle_geomean"), oracle, 0.000_6, "oracle");

        let eight = &expected["figure8_all_suites"];
        let ours = &numbers["figure8"][platform];
        let paper = at(eight, &format!("paper {platform}"));
        near(at(ours, "paper_formula"), paper, 0.006, "figure 8");
        let geomean = &eight["right_orientation_geomean_extended_1nn_over_grewe_tree"];
        let geomean = at(geomean, platform);
        near(at(ours, "right_orientation geomean"), geomean, 0.000_6, "figure 8");
    }
    for corpus in ["clgen", "clsmith"] {
        let share = at(&expected["figure9_matches"], corpus);
        near(at(&numbers["figure9"], corpus), share, 0.000_5, corpus);
    }
}

#[test]
fn clgen_kernels_lower_the_nas_speedup_whatever_the_seed() {
    let (found, _) = recomputed(5);
    for platform in ["amd", "nvidia"] {
        let seeds = &found.numbers["figure7"][platform]["over_seeds"];
        assert_eq!(seeds["lowered"], seeds["seeds"], "{platform}");
    }
}

#[test]
fn the_same_data_give_the_same_bytes() {
    let (one, _) = recomputed(1);
    let (two, _) = recomputed(1);
    assert_eq!(one.numbers.to_string(), two.numbers.to_string());
    assert_eq!(one.text, two.text);
    assert_eq!(one.pictures, two.pictures);
    assert_eq!(one.tables, two.tables);
}

#[test]
fn figures_are_tables_with_what_the_paper_prints() {
    let (found, _) = recomputed(1);
    let lines = |name: &str| -> Vec<&str> {
        let (_, text) = found.tables.iter().find(|(file, _)| file == name).unwrap();
        text.lines().collect()
    };
    let seven = lines("figure7.csv");
    assert_eq!(seven.len(), 5);
    assert!(seven[1].starts_with("amd,CPU,suites,1.26,1.2"), "{}", seven[1]);
    assert!(seven[2].starts_with("amd,CPU,suites and CLgen's kernels,1.57,1.5"), "{}", seven[2]);
    let eight = lines("figure8.csv");
    assert!(eight[1].starts_with("amd,3.56,3.5") && eight.len() == 3, "{}", eight[1]);
    let cells = |line: &str| line.split(',').count();
    assert!(seven.iter().all(|line| cells(line) == 10), "{seven:?}");
    assert!(eight.iter().all(|line| cells(line) == 8), "{eight:?}");
    assert!(found.pictures.iter().any(|(name, svg)| name == "figure8.svg" && svg.contains("5.04")));
}

#[test]
fn counts_the_garbage_rows_of_the_published_data() {
    let (found, _) = recomputed(1);
    let rows = &found.numbers["rows"]["amd"];
    assert_eq!(rows["amd-clgen.csv"]["garbage-feature"], 80);
    assert_eq!(rows["amd-clgen.csv"]["accepted"], 15_839);
    assert_eq!(rows["amd-benchmarks.csv"]["accepted"], 680);
}

#[test]
fn an_unknown_recipe_is_told_the_known_ones() {
    let options = ReproduceOptions { recipe: "cgo71".to_owned(), data: "".into(), seeds: 1 };
    let error = reproduce(&options).unwrap_err().to_string();
    assert_eq!(error, "unknown recipe `cgo71`; known: cgo17");
}

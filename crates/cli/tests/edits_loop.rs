//! The whole loop of edits with nothing outside: export, fine-tune, serve, propose, judge, score.
//! The model is a Llama of random weights in Hugging Face's layout, made here. Training needs the libtorch
//! engine.

mod served;

use serde_json::{Value, json};
use served::{Server, llama, stampmill};
use std::{fmt::Write as _, fs, path::Path, process::Output};

/// What a command prints, which must end well.
fn run(home: &Path, arguments: &str) -> Value {
    let output = stampmill(home).args(arguments.split(' ')).output().expect("it starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments}: {said}");
    serde_json::from_slice(&output.stdout).unwrap_or(Value::Null)
}

/// Three problems that differ in a number and in names: a slow program does 60 times what a fast one does.
fn programs() -> Vec<(String, String, u64)> {
    [("sum", 31_u64), ("acc", 37), ("tot", 41)]
        .into_iter()
        .map(|(name, factor)| {
            let head = format!(
                "#include <cstdio>\nint main() {{\n  int n = 0;\n  scanf(\"%d\", &n);\n  long long {name} = 0;\n"
            );
            let inner = format!(
                "for (int i = 1; i <= n; i++) {name} = ({name} * {factor} + i) % 1000003;"
            );
            let tail = format!("  printf(\"%lld\\n\", {name});\n}}\n");
            let slow = format!(
                "{head}  for (int r = 0; r < 60; r++) {{\n    {name} = 0;\n    {inner}\n  }}\n{tail}"
            );
            (slow, format!("{head}  {inner}\n{tail}"), factor)
        })
        .collect()
}

/// Pairs and tests in a folder.
fn write_pairs(home: &Path) {
    let mut lines = String::new();
    for (at, (slow, fast, factor)) in programs().into_iter().enumerate() {
        let line = json!({"problem_id": format!("p{at}"), "submission_id": format!("s{at}"),
                          "src_code": slow, "tgt_code": fast, "language": "C++"});
        writeln!(lines, "{line}").expect("text grows");
        let folder = home.join(format!("tests/p{at}"));
        fs::create_dir_all(&folder).expect("a folder");
        for (number, n) in [3000_u64, 4321].into_iter().enumerate() {
            let sum = (1..=n).fold(0, |sum, i| (sum * factor + i) % 1_000_003);
            fs::write(folder.join(format!("input.{number}.txt")), format!("{n}\n"))
                .expect("a file");
            fs::write(folder.join(format!("output.{number}.txt")), format!("{sum}\n"))
                .expect("a file");
        }
    }
    fs::write(home.join("pairs.jsonl"), lines).expect("a file");
}

fn texts(home: &Path) -> Vec<String> {
    vec![fs::read_to_string(home.join("train.jsonl")).expect("the export").replace("\\n", " ")]
}

fn a_model_that_was_taught_edits_makes_them_and_they_are_judged() {
    let home = tempfile::tempdir().expect("a folder");
    let home = home.path();
    write_pairs(home);
    run(home, "edits export pairs.jsonl --format openai --out train.jsonl --json");
    llama(&home.join("tiny"), &texts(home));
    let recipe = "[training]\nlength = 400\nbatch_tokens = 800\nbudget_tokens = 192000\nlearning_rate = 0.006\n\
                  weight_decay = 0.0\nvalidation_share = 0.0\n";
    fs::write(home.join("recipe.toml"), recipe).expect("a file");
    let trained = run(
        home,
        "train --task edits train.jsonl --from tiny --recipe recipe.toml --device cpu --out tuned --json",
    );
    assert!(trained["loss"].as_f64().is_some_and(|loss| loss < 0.1), "{trained}");

    let server = Server::start(home, "tuned", &[]);
    let url = &server.url;
    run(
        home,
        &format!(
            "edits propose pairs.jsonl --method instruction --url {url} --model mine --temperature 0 \
             --samples 1 --max-tokens 300 --cache cache --tries 1 --out answers.jsonl --json"
        ),
    );
    assert_eq!(server.stop("INT"), Some(0));
    run(
        home,
        "edits judge pairs.jsonl --candidates answers.jsonl --tests tests --cache cache --out judged --json",
    );
    let scores = run(home, "edits score judged --json");
    // What is said by heart to the last letter compiles; a model this small may miss one of three.
    assert!(scores["opt"].as_f64().is_some_and(|opt| opt > 0.3), "{scores}");
    assert_eq!(scores["unjudged"], 0, "{scores}");

    // The same with adapters, which are kept beside the weights they were added to.
    let recipe = recipe.replace("0.006", "0.02").replace("192000", "32000");
    fs::write(home.join("recipe.toml"), recipe).expect("a file");
    let adapted = run(
        home,
        "train --task edits pairs.jsonl --from tiny --lora 8 --recipe recipe.toml --device cpu --out adapted --json",
    );
    assert!(adapted["loss"].as_f64().is_some_and(|loss| loss < 4.5), "{adapted}");
    let settings = fs::read_to_string(home.join("adapted/adapter/adapter_config.json"));
    let settings: Value = serde_json::from_str(&settings.expect("adapters")).expect("JSON");
    assert_eq!((&settings["r"], &settings["lora_alpha"]), (&json!(8), &json!(16.0)));
    assert!(!home.join("adapted/base").exists());
}

/// A command that must fail, and why it says it does.
fn fails(home: &Path, arguments: &str) -> String {
    let output: Output = stampmill(home).args(arguments.split(' ')).output().expect("it starts");
    assert_eq!(output.status.code(), Some(2), "{arguments}");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn what_cannot_be_taught_or_served_is_said() {
    let home = tempfile::tempdir().expect("a folder");
    let home = home.path();
    write_pairs(home);
    run(home, "edits export pairs.jsonl --format hf --out train.jsonl --json");
    llama(&home.join("tiny"), &texts(home));
    fs::write(home.join("empty.jsonl"), "\n").expect("a file");
    fs::write(home.join("broken.jsonl"), "{\"prompt\": 1}\n").expect("a file");
    let train = "train --task edits --prepare-only --out tuned --from";
    for (arguments, wanted) in [
        (format!("{train} tiny empty.jsonl"), "empty.jsonl is empty"),
        (format!("{train} tiny broken.jsonl"), "broken.jsonl, line 1"),
        (format!("{train} nowhere train.jsonl"), "there is nothing at nowhere"),
        (format!("{train} tests train.jsonl"), "tests is a folder without config.json"),
        (format!("{train} tiny train.jsonl --lora 0"), "--lora"),
        (format!("{train} tiny train.jsonl --lora-alpha 8"), "--lora"),
        (format!("{train} tiny train.jsonl --lora 4 --lora-alpha 0"), "--lora-alpha"),
        (format!("{train} tiny train.jsonl --epochs 0"), "--epochs"),
        ("train --task edits train.jsonl --out tuned".to_owned(), "--from"),
        ("serve tests".to_owned(), "tests is a folder without config.json"),
    ] {
        let said = fails(home, &arguments);
        assert!(said.contains(wanted), "{arguments}: {said}");
        assert!(!home.join("tuned").exists(), "{arguments}");
    }
    let report = run(home, &format!("{train} tiny train.jsonl --json"));
    assert_eq!((&report["training"], &report["problems"]), (&json!(3), &json!(3)), "{report}");
    assert_eq!(report["verdicts"], json!({"accepted": 3}));
    let adapters = "train --task edits train.jsonl --from tiny --lora 32 --lora-alpha 16";
    run(home, &format!("{adapters} --prepare-only --out adapters --json"));
    let settings = fs::read_to_string(home.join("adapters/training.json")).expect("settings");
    let settings: Value = serde_json::from_str(&settings).expect("JSON");
    assert_eq!(settings["lora"], json!({"rank": 32, "alpha": 16.0}));
}

trials::main! {
    a_model_that_was_taught_edits_makes_them_and_they_are_judged:
        lm::find_python().is_none().then(|| "a Python to train with (make torch)".to_owned()),
    what_cannot_be_taught_or_served_is_said,
}

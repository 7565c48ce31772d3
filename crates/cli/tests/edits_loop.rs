//! Serving, and the whole loop of edits with nothing outside: export, fine-tune, serve, propose, judge, score.
//! The model is a Llama of random weights in Hugging Face's layout, made here. Training needs the libtorch
//! engine, judging QEMU and g++; without them that part is skipped.

use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    path::Path,
    process::{Child, Command, Output, Stdio},
};

fn benchstone(home: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_benchstone"));
    command.current_dir(home).stdin(Stdio::null());
    command
}

/// What a command prints, which must end well.
fn run(home: &Path, arguments: &str) -> Value {
    let output = benchstone(home).args(arguments.split(' ')).output().expect("it starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments}: {said}");
    serde_json::from_slice(&output.stdout).unwrap_or(Value::Null)
}

/// The character that stands for a byte in byte-level tokenizers.
fn letter(byte: u8) -> char {
    let printable = |byte: u8| matches!(byte, 33..=126 | 161..=172 | 174..=255);
    if printable(byte) {
        return char::from(byte);
    }
    let before = (0..byte).filter(|byte| !printable(*byte)).count() as u32;
    char::from_u32(256 + before).expect("a letter")
}

fn spelled(text: &str) -> String {
    text.bytes().map(letter).collect()
}

/// A tokenizer of bytes and of the words in `texts`, in Hugging Face's format.
fn tokenizer(texts: &[String]) -> Value {
    let mut vocabulary = serde_json::Map::new();
    for piece in ["<s>", "</s>"] {
        vocabulary.insert(piece.to_owned(), json!(vocabulary.len()));
    }
    let added: Vec<Value> = vocabulary
        .iter()
        .map(|(piece, id)| {
            json!({"id": id, "content": piece, "single_word": false, "lstrip": false,
                   "rstrip": false, "normalized": false, "special": true})
        })
        .collect();
    for byte in 0..=255 {
        vocabulary.insert(letter(byte).to_string(), json!(vocabulary.len()));
    }
    let mut words = BTreeSet::new();
    for text in texts {
        let all = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| word.len() > 1);
        words.extend(all.map(str::to_owned));
    }
    for word in words.into_iter().chain(["\n\n".into(), "  ".into(), "```".into()]) {
        let id = json!(vocabulary.len());
        vocabulary.entry(spelled(&word)).or_insert(id);
    }
    json!({
        "version": "1.0", "truncation": null, "padding": null, "added_tokens": added, "normalizer": null,
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [
            {"type": "Split", "pattern": {"Regex": "[A-Za-z0-9]+|\\n+| +|`+|."}, "behavior": "Isolated", "invert": false},
            {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": false}]},
        "post_processor": null,
        "decoder": {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": false},
        "model": {"type": "BPE", "dropout": null, "unk_token": null, "continuing_subword_prefix": null,
                  "end_of_word_suffix": null, "fuse_unk": false, "byte_fallback": false,
                  "ignore_merges": true, "vocab": vocabulary, "merges": []},
    })
}

/// Write a small Llama of random weights.
fn llama(folder: &Path, texts: &[String]) {
    const WIDTH: usize = 64;
    const INNER: usize = 128;
    const LAYERS: usize = 2;
    fs::create_dir(folder).expect("a folder");
    let tokenizer = tokenizer(texts);
    let words = tokenizer["model"]["vocab"].as_object().expect("a vocabulary").len();
    let config = json!({
        "architectures": ["LlamaForCausalLM"], "model_type": "llama", "vocab_size": words,
        "hidden_size": WIDTH, "intermediate_size": INNER, "num_hidden_layers": LAYERS,
        "num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 512,
        "rms_norm_eps": 1e-5, "rope_theta": 10000.0, "hidden_act": "silu",
        "bos_token_id": 0, "eos_token_id": 1,
    });
    fs::write(folder.join("config.json"), config.to_string()).expect("a file");
    fs::write(folder.join("tokenizer.json"), tokenizer.to_string()).expect("a file");
    let mut shapes = vec![
        ("model.embed_tokens.weight".to_owned(), vec![words, WIDTH]),
        ("lm_head.weight".to_owned(), vec![words, WIDTH]),
        ("model.norm.weight".to_owned(), vec![WIDTH]),
    ];
    for at in 0..LAYERS {
        for (name, shape) in [
            ("input_layernorm", vec![WIDTH]),
            ("post_attention_layernorm", vec![WIDTH]),
            ("self_attn.q_proj", vec![WIDTH, WIDTH]),
            ("self_attn.k_proj", vec![WIDTH / 2, WIDTH]),
            ("self_attn.v_proj", vec![WIDTH / 2, WIDTH]),
            ("self_attn.o_proj", vec![WIDTH, WIDTH]),
            ("mlp.gate_proj", vec![INNER, WIDTH]),
            ("mlp.up_proj", vec![INNER, WIDTH]),
            ("mlp.down_proj", vec![WIDTH, INNER]),
        ] {
            shapes.push((format!("model.layers.{at}.{name}.weight"), shape));
        }
    }
    // The format: the header's length, the header, the numbers.
    let (mut header, mut numbers) = (BTreeMap::new(), Vec::<u8>::new());
    let mut state = 0x9e37_79b9_u32;
    for (name, shape) in shapes {
        let from = numbers.len();
        for _ in 0..shape.iter().product() {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            let noise = (state as f32 / u32::MAX as f32 - 0.5) * 0.2;
            let number = if shape.len() == 1 { 1.0 } else { noise };
            numbers.extend(number.to_le_bytes());
        }
        let offsets = [from, numbers.len()];
        header.insert(name, json!({"dtype": "F32", "shape": shape, "data_offsets": offsets}));
    }
    let mut text = json!(header).to_string();
    text.push_str(&" ".repeat(text.len().next_multiple_of(8) - text.len()));
    let mut whole = (text.len() as u64).to_le_bytes().to_vec();
    whole.extend(text.bytes());
    whole.extend(numbers);
    fs::write(folder.join("model.safetensors"), whole).expect("a file");
}

/// A server that is killed when the test ends.
struct Server {
    child: Child,
    url: String,
}

impl Server {
    fn start(home: &Path, checkpoint: &str) -> Server {
        let mut command = benchstone(home);
        command.args(["serve", checkpoint, "--json", "--name", "mine"]).stdout(Stdio::piped());
        let mut child = command.spawn().expect("it starts");
        let mut line = String::new();
        let out = child.stdout.as_mut().expect("its output");
        BufReader::new(out).read_line(&mut line).expect("a line");
        let said: Value = serde_json::from_str(&line).expect("JSON");
        Server { child, url: said["url"].as_str().expect("an address").to_owned() }
    }

    /// Status and answer.
    fn ask(&self, method: &str, path: &str, body: &str) -> (u16, Value) {
        let host = self.url.trim_start_matches("http://").trim_end_matches("/v1");
        let mut stream = TcpStream::connect(host).expect("a connection");
        let length = body.len();
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}"
        )
        .expect("it listens");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        let status = answer.split(' ').nth(1).and_then(|code| code.parse().ok()).expect("a status");
        let body = answer.split_once("\r\n\r\n").map(|(_, body)| body).unwrap_or_default();
        (status, serde_json::from_str(body).unwrap_or(Value::Null))
    }

    fn chat(&self, more: Value) -> (u16, Value) {
        let mut body =
            json!({"model": "mine", "messages": [{"role": "user", "content": "int main"}]});
        for (key, value) in more.as_object().expect("an object") {
            body[key] = value.clone();
        }
        self.ask("POST", "/v1/chat/completions", &body.to_string())
    }

    /// Ctrl-C, and how it ended.
    fn stop(mut self) -> Option<i32> {
        // The shell's own: a small machine has no program `kill`.
        let kill = format!("kill -INT {}", self.child.id());
        Command::new("sh").args(["-c", &kill]).status().expect("a signal");
        self.child.wait().expect("it ends").code()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may be gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
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

#[test]
fn a_random_llama_is_served_as_openai_would() {
    let home = tempfile::tempdir().expect("a folder");
    let home = home.path();
    llama(&home.join("tiny"), &["int main return".to_owned()]);
    let server = Server::start(home, "tiny");

    let (status, models) = server.ask("GET", "/v1/models", "");
    assert_eq!((status, &models["data"][0]["id"]), (200, &json!("mine")));
    let (status, answer) = server.chat(json!({"max_tokens": 7, "n": 2, "seed": 5}));
    assert_eq!(status, 200, "{answer}");
    let text = |answer: &Value, at: usize| {
        answer["choices"][at]["message"]["content"].as_str().expect("a text").to_owned()
    };
    assert_ne!(text(&answer, 0), text(&answer, 1), "two draws differ");
    assert_eq!(answer["object"], "chat.completion");
    let usage = &answer["usage"];
    // "<s>int main\n\n": a word, a blank, a word, and the end of the message.
    assert_eq!(usage["prompt_tokens"], 5);
    assert!(usage["completion_tokens"].as_u64().is_some_and(|n| (2..=14).contains(&n)), "{usage}");
    let (_, again) = server.chat(json!({"max_tokens": 7, "n": 2, "seed": 5}));
    assert_eq!(text(&again, 1), text(&answer, 1), "the same seed draws the same");
    let (_, cold) = server.chat(json!({"max_tokens": 9, "temperature": 0}));
    let whole = text(&cold, 0);
    let end = whole.char_indices().nth(1).map(|(at, _)| whole[at..].chars().next().expect("more"));
    let end = end.expect("a second character").to_string();
    let (_, cut) = server.chat(json!({"max_tokens": 9, "temperature": 0, "stop": end}));
    assert_eq!(cut["choices"][0]["finish_reason"], "stop");
    assert!(whole.starts_with(&text(&cut, 0)) && !text(&cut, 0).contains(&end));
    let body = json!({"model": "mine", "prompt": ["int", "main main"], "max_tokens": 3});
    let (status, completed) = server.ask("POST", "/v1/completions", &body.to_string());
    assert_eq!((status, completed["choices"].as_array().map(Vec::len)), (200, Some(2)));
    let body = json!({"model": "mine", "input": ["int main", "return"]}).to_string();
    let (status, vectors) = server.ask("POST", "/v1/embeddings", &body);
    assert_eq!((status, vectors["data"][1]["embedding"].as_array().map(Vec::len)), (200, Some(64)));

    let refused = |(status, answer): (u16, Value), wanted: u16, code: &str| {
        assert_eq!((status, &answer["error"]["code"]), (wanted, &json!(code)), "{answer}");
        assert!(answer["error"]["message"].is_string() && answer["error"]["type"].is_string());
    };
    let post = |body: &str| server.ask("POST", "/v1/chat/completions", body);
    refused(post("{"), 400, "invalid_request");
    refused(post("{\"model\": \"other\"}"), 404, "model_not_found");
    refused(post("{\"model\": \"mine\", \"messages\": 3}"), 400, "invalid_value");
    refused(server.chat(json!({"temperature": 3})), 400, "invalid_value");
    refused(server.chat(json!({"max_tokens": 0})), 400, "invalid_value");
    refused(server.chat(json!({"stream": true})), 400, "invalid_value");
    let long = json!([{"role": "user", "content": "int main ".repeat(200)}]);
    refused(server.chat(json!({"messages": long})), 413, "context_length_exceeded");
    refused(server.ask("GET", "/v1/nothing", ""), 404, "not_found");
    refused(server.ask("PUT", "/v1/models", ""), 405, "method_not_allowed");

    let taken = server.url.trim_start_matches("http://").trim_end_matches("/v1").to_owned();
    let output =
        benchstone(home).args(["serve", "tiny", "--listen", &taken]).output().expect("runs");
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("cannot listen on") && said.contains("--listen"), "{said}");
    assert_eq!(server.stop(), Some(0));
}

/// Whether everything that `wanted` names is here; says so where not.
fn has(home: &Path, wanted: &[&str]) -> bool {
    let report = benchstone(home).args(["doctor", "--json"]).output().expect("it starts");
    let report: Value = serde_json::from_slice(&report.stdout).unwrap_or_default();
    let found = |name: &str| {
        let all = report["components"].as_array().into_iter().flatten();
        all.into_iter().any(|one| one["name"] == name && one["found"] == true)
    };
    let missing: Vec<&&str> = wanted.iter().filter(|name| !found(name)).collect();
    if !missing.is_empty() {
        println!("skipped: no {missing:?} here");
    }
    missing.is_empty()
}

#[test]
fn a_model_that_was_taught_edits_makes_them_and_they_are_judged() {
    let home = tempfile::tempdir().expect("a folder");
    let home = home.path();
    if lm::find_engine().is_none() {
        println!("skipped: no training engine here");
        return;
    }
    if !has(home, &["g++", "QEMU user mode"]) {
        return;
    }
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

    let server = Server::start(home, "tuned");
    let url = &server.url;
    run(
        home,
        &format!(
            "edits propose pairs.jsonl --method instruction --url {url} --model mine --temperature 0 \
             --samples 1 --max-tokens 300 --cache cache --tries 1 --out answers.jsonl --json"
        ),
    );
    assert_eq!(server.stop(), Some(0));
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
    let output: Output = benchstone(home).args(arguments.split(' ')).output().expect("it starts");
    assert_eq!(output.status.code(), Some(2), "{arguments}");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
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
        (format!("{train} nowhere train.jsonl"), "nowhere/config.json"),
        (format!("{train} tests train.jsonl"), "tests/config.json: no such file"),
        (format!("{train} tiny train.jsonl --lora 0"), "--lora"),
        (format!("{train} tiny train.jsonl --epochs 0"), "--epochs"),
        ("train --task edits train.jsonl --out tuned".to_owned(), "--from"),
        ("serve tests".to_owned(), "tests/config.json: no such file"),
    ] {
        let said = fails(home, &arguments);
        assert!(said.contains(wanted), "{arguments}: {said}");
        assert!(!home.join("tuned").exists(), "{arguments}");
    }
    let report = run(home, &format!("{train} tiny train.jsonl --json"));
    assert_eq!((&report["training"], &report["problems"]), (&json!(3), &json!(3)), "{report}");
    assert_eq!(report["verdicts"], json!({"accepted": 3}));
}

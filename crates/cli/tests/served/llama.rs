//! A Llama of random weights in Hugging Face's layout.

use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

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
pub(crate) fn llama(folder: &Path, texts: &[String]) {
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

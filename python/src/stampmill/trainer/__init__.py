"""The training engine: `python3 -m stampmill.trainer train FOLDER`.

`stampmill train` writes a *training folder* (`corpus.safetensors`, `config.json`, `training.json`, `tokenizer.json`) and this
program trains in it, on the CPU or on a GPU, with `transformers`' models and `torch.compile`. It knows token ids, not
programs, and needs nothing of the package around it: the command carries a copy and starts it with a Python that has
`torch`, `transformers`, `safetensors` and `numpy`.

| command | reads | writes |
|---|---|---|
| `train DIR` | a training folder | `model.safetensors`, `metrics.jsonl`, `state.safetensors` to resume |
| `bench DIR` | a training folder | the rate of the same training step, on random ids |
| `sample DIR` | a checkpoint | token ids, a row a sample, drawn without a constraint |
| `devices` | | what there is to train on |
"""

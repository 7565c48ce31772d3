"""Stages on real programs."""

from __future__ import annotations

import gc
import json
import pickle
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
import stampmill
from stampmill import _error, rewards


def test_features_of_texts_are_named_columns_in_the_order_of_the_texts(texts: list[str]) -> None:
    vectors = stampmill.features(texts, space=["grewe", "instcount"])
    frame = vectors.to_pandas()
    assert list(frame.index) == [0, 1, 2]
    assert list(frame["verdict"]) == ["accepted", "does-not-compile", "accepted"]
    assert list(frame["kernel"]) == ["scale", "", "bump"]
    assert frame.loc[2, "instcount.Add"] == 1 and frame.loc[0, "instcount.TotalBlocks"] == 1
    assert frame.loc[0, "grewe.coalesced"] == 2
    assert frame.filter(like="instcount.").loc[1].isna().all()
    assert not [name for name in frame if str(name).startswith("autophase")]
    assert len(vectors) == 3 and vectors.summary["programs"] == 3 and vectors.schema == "features"
    assert vectors.manifest["verdicts"] == {"accepted": 2, "does-not-compile": 1}
    assert vectors.to_arrow().column_names[0] == "input"
    assert "input" not in vectors.to_arrow(raw=True).column_names


def test_pandas_reads_the_folder_of_a_data_set(texts: list[str], tmp_path: Path) -> None:
    stampmill.features(texts, space="grewe", out=tmp_path / "vectors")
    assert list(pd.read_parquet(tmp_path / "vectors")["kernel"]) == ["scale", "", "bump"]
    described = {path.name for path in (tmp_path / "vectors").iterdir()}
    assert {".huggingface.yaml", "_croissant.json"} < described


def test_many_texts_keep_their_order() -> None:
    many = [f"kernel void k{number}(global int* x) {{ x[0] += {number}; }}" for number in range(120)]
    frame = stampmill.features(many, space="grewe").to_pandas()
    assert list(frame["kernel"]) == [f"k{number}" for number in range(120)]


@pytest.mark.parametrize("kind", ["list", "tuple", "generator", "mapping", "series", "frame", "table", "array"])
def test_every_form_of_texts_is_taken(texts: list[str], kind: str) -> None:
    names = ["a", "b", "c"]
    frame = pd.DataFrame({"text": texts}, index=pd.Index(names, name="who"))
    forms: dict[str, Any] = {
        "list": texts,
        "tuple": tuple(texts),
        "generator": (text for text in texts),
        "mapping": dict(zip(names, texts)),
        "series": frame["text"],
        "frame": frame,
        "table": pa.table({"text": texts}),
        "array": pa.chunked_array([texts]),
    }
    found = stampmill.features(forms[kind], space="grewe").to_pandas()
    labelled = kind in ("mapping", "series", "frame")
    assert list(found.index) == (names if labelled else [0, 1, 2])
    assert list(found["verdict"] == "accepted") == [True, False, True]


def test_results_join_the_frame_that_texts_were_in(texts: list[str]) -> None:
    frame = pd.DataFrame({"text": texts, "stars": [3, 5, 1]}, index=pd.Index([30, 10, 20], name="key"))
    joined = frame.join(stampmill.features(frame, space="grewe").to_pandas())
    assert list(joined["stars"]) == [3, 5, 1]
    assert list(joined["kernel"]) == ["scale", "", "bump"]


def test_a_text_of_two_kernels_is_two_rows(texts: list[str]) -> None:
    frame = stampmill.features([texts[0] + texts[2], texts[2]], space="grewe").to_pandas()
    assert list(frame.index) == [0, 0, 1]
    assert list(frame["kernel"]) == ["scale", "bump", "bump"]


def test_labels_of_several_types_are_kept(texts: list[str]) -> None:
    labels: dict[Any, str] = {"a": texts[0], 7: texts[2]}
    vectors = stampmill.features(labels, space="grewe")
    assert list(vectors.to_pandas().index) == ["a", 7]
    assert vectors.to_arrow().column("input").to_pylist() == ["a", "7"]


def test_equal_texts_that_prepare_joins_each_have_their_row(texts: list[str]) -> None:
    kernels = stampmill.prepare([texts[0], texts[2], texts[0]])
    frame = kernels.to_pandas()
    assert len(kernels) == 2
    assert list(frame.index) == [0, 1, 2]
    assert list(frame["original_name"]) == ["scale", "bump", "scale"]
    # Labels are passed on.
    assert list(stampmill.features(kernels, space="grewe").to_pandas().index) == [0, 1, 2]


def test_prepare_of_a_folder_and_what_follows(texts: list[str], tmp_path: Path) -> None:
    (tmp_path / "programs").mkdir()
    for name, text in zip(("scale", "broken", "bump"), texts):
        (tmp_path / "programs" / f"{name}.cl").write_text(text)
    kernels = stampmill.prepare(tmp_path / "programs", out=tmp_path / "kernels", jobs=1)
    assert kernels.path == tmp_path / "kernels"
    assert kernels.summary["kernels"] == 2
    counted = stampmill.query("SELECT verdict, count(*) AS n FROM k GROUP BY verdict ORDER BY n DESC", {"k": kernels})
    assert counted.to_arrow().to_pylist()[0] == {"verdict": "accepted", "n": 2}
    again = stampmill.Dataset(tmp_path / "kernels")
    assert len(again) == len(kernels) and again.summary["kernels"] == 2
    assert stampmill.fsck(again)["ok"]
    assert stampmill.export(again, to=tmp_path / "files")["programs"] == 2
    assert stampmill.project({"mine": kernels}, space="grewe")["vectors"] == 2
    shares = [stampmill.prepare(tmp_path / "programs", part=f"{share}/2") for share in (1, 2)]
    assert stampmill.merge(shares).to_pandas(raw=True).equals(kernels.to_pandas(raw=True))


def test_tables_in_memory_can_be_queried() -> None:
    frame = pd.DataFrame({"x": [1, 2, 3]})
    assert stampmill.query("SELECT sum(x) AS s FROM dataset", frame).to_pandas()["s"].to_list() == [6]
    joined = stampmill.query("SELECT a.x FROM a JOIN b ON a.x = b.x", {"a": frame, "b": pa.table({"x": [2]})})
    assert joined.to_arrow().to_pylist() == [{"x": 2}]
    assert len(stampmill.query("SELECT x FROM dataset WHERE x > 3", frame).to_pandas()) == 0


def test_steer_to_a_tiny_target() -> None:
    found = stampmill.steer(target={"Load": 2, "FMul": 1}, budget=300, seed=1)
    row = found.to_arrow().to_pylist()[0]
    assert row["exact"] and "kernel void" in row["text"]
    assert found.summary["exact"] == 1
    frame = found.to_pandas()
    assert frame.loc[0, "instcount.Load"] == 2 and frame.loc[0, "instcount.FMul"] == 1 and "vector" not in frame
    vector = found.to_arrow(raw=True).column("vector").to_pylist()[0]
    assert vector is not None and len(vector) == sum(str(name).startswith("instcount.") for name in frame)
    two = stampmill.steer(target=["Load=1", {"Store": "1..2", "Add": 1}], budget=200)
    assert two.summary["targets"] == 2


def test_time_of_one_program_and_of_texts(tmp_path: Path) -> None:
    program = '#include <cstdio>\nint main() { int n; scanf("%d", &n); printf("%d\\n", n * n); }\n'
    (tmp_path / "square.cpp").write_text(program)
    one = stampmill.time(tmp_path / "square.cpp", stdin="7\n")
    assert one["verdict"] == "accepted" and one["cycles"] > 0 and one.exit_status == 0
    (tmp_path / "in.txt").write_text("7\n")
    file = stampmill.time(tmp_path / "square.cpp", stdin=tmp_path / "in.txt")
    assert (file["verdict"], file["cycles"]) == ("accepted", one["cycles"])
    texts = stampmill.time([program], stdin=tmp_path / "in.txt").to_pandas()
    assert list(texts["cycles"]) == [one["cycles"]]
    with pytest.raises(TypeError, match="a file"):
        stampmill.time(tmp_path / "square.cpp", stdin=["7\n"])  # type: ignore[call-overload]
    frame = stampmill.time([program, "int main( {"], stdin=["7\n", ""]).to_pandas()
    assert list(frame["verdict"]) == ["accepted", "does-not-compile"]
    assert frame["cycles"].max() > 0 and list(frame.index) == [0, 1]


def test_sample_and_evaluate_the_model_that_ships(root: Path) -> None:
    samples = stampmill.sample(root / "models" / "infill", n=2, seed=3)
    assert len(samples) == 2
    assert stampmill.evaluate(root / "models" / "infill", n=2)["samples"] == 2


def test_a_heuristic_is_scored(root: Path, tmp_path: Path) -> None:
    task = root / "datasets" / "device-mapping-h200" / "task"
    scored = stampmill.heuristic.crossval(task, model=["tree", "knn"], folds=3, seed=1)
    assert 0 < scored["accuracy"] <= 1
    assert stampmill.heuristic.train(task, out=tmp_path / "tree.json", seed=1)["accuracy"] > 0.9
    predicted = stampmill.heuristic.predict(tmp_path / "tree.json", task)
    assert len(predicted["predictions"]) == len(stampmill.heuristic.import_(task))
    assert stampmill.heuristic.explain(task, depth=2)["tree"]


def test_run_on_a_device(texts: list[str]) -> None:
    assert any(device["usable"] for device in stampmill.devices()["devices"])
    frame = stampmill.run(texts[:1], global_sizes="2^7", budget="10ms").to_pandas()
    assert set(frame["outcome"]) == {"pass"} and list(frame.index) == [0]


def test_lines_of_pairs_are_checked_and_labeled(tmp_path: Path) -> None:
    slow = "int f(int n) { return n < 2 ? n : f(n - 1) + f(n - 2); }\nint main() { return f(9); }"
    fast = "int f(int n) { int a = 0, b = 1; while (n--) { int c = a + b; a = b; b = c; } return a; }\nint main() { return f(9); }"
    pair = {"problem_id": "p", "src_id": "s", "tgt_id": "t", "src_code": slow, "tgt_code": fast}
    lines = tmp_path / "pairs.jsonl"
    lines.write_text(json.dumps(pair) + "\n")
    labeled = stampmill.edits.label(lines)
    assert [row["label"] for row in labeled["rows"]] == ["algorithm"] and labeled["labels"] == {"algorithm": 1}
    assert stampmill.edits.validate(lines)["valid"] == 1
    lines.write_text(lines.read_text() + "{}\n")
    checked = stampmill.edits.validate(lines)
    assert checked.exit_status == 1 and checked["broken"][0]["line"] == 2
    assert stampmill.edits.validate(forms=True)["forms"]


def test_arms_are_of_tasks_with_one_choice(root: Path) -> None:
    task = root / "datasets" / "device-mapping-h200" / "task"
    with pytest.raises(stampmill.Error, match="tasks with one choice"):
        stampmill.heuristic.arms(task, base=task, test=task, added=[30, 60], draws=2)


def test_any_command_can_be_called() -> None:
    forms = stampmill.command("edits validate", forms=True)
    assert forms.exit_status == 0
    assert "Skylake" in stampmill.command("time cpu", "skylake")["output"]


def test_modules(tmp_path: Path) -> None:
    module = "define i32 @f(i32 %x) {\n  %y = add i32 %x, 1\n  ret i32 %y\n}\n"
    (tmp_path / "a.ll").write_text(module)
    modules = stampmill.ir.extract(tmp_path / "a.ll")
    unique = stampmill.ir.license(stampmill.ir.dedup(modules), policy="all")
    assert modules.schema == unique.schema == "module" and len(unique) == 1
    assert stampmill.ir.stats(unique, no_tokens=True).schema == "ir-statistics"
    assert stampmill.ir.export(unique, out=tmp_path / "text", format="text")["modules"] == 1
    passes = stampmill.ir.optimize(unique, pipeline="function(sroa)", after_each=True, no_times=True)
    assert list(passes.to_pandas()["effect"]) == ["unchanged"]
    assert stampmill.ir.diff(modules, stampmill.ir.optimize(modules, stop_after=1)).exit_status == 0
    (tmp_path / "b.ll").write_text('target triple = "x86_64-unknown-linux-gnu"\ndefine i32 @main() {\n  ret i32 0\n}\n')
    cycles = stampmill.ir.run(stampmill.ir.extract(tmp_path / "b.ll")).to_pandas()
    assert list(cycles["function"]) == ["", "main"] and (cycles["cycles"] > 0).all()
    frame = stampmill.features([module, "nonsense"], language="llvm", space="instcount").to_pandas()
    assert frame["instcount.TotalInsts"].tolist()[0] == 2
    assert list(frame["verdict"]) == ["accepted", "not-a-module"]


def test_texts_that_are_no_kernels_have_rows(texts: list[str]) -> None:
    odd = ["", "int x;", "\x00\udcff", texts[0], "no program at all"]
    for stage in (stampmill.features, stampmill.prepare):
        frame = stage(odd).to_pandas()
        assert list(frame.index) == [0, 1, 2, 3, 4]
        assert frame.loc[3, "verdict"] == "accepted" and frame.loc[0, "verdict"] == "empty"


def test_a_page(texts: list[str], tmp_path: Path) -> None:
    page = stampmill.report(stampmill.prepare(texts), out=tmp_path / "page.html")
    assert page["programs"] == 2 and (tmp_path / "page.html").stat().st_size == page["bytes"]


def test_mine_a_folder(texts: list[str], tmp_path: Path) -> None:
    (tmp_path / "host.py").write_text(f'import pyopencl\nSOURCE = """\n{texts[0]}\n"""\n')
    raw = stampmill.mine(tmp_path)
    assert stampmill.prepare(raw).to_pandas()["original_name"].to_list() == ["scale"]


def test_costs_and_small_modules_of_texts() -> None:
    loop = "int sum(const int *a, int n) { int s = 0; for (int i = 0; i < n; i++) s += a[i] * 2; return s; }"
    labels = stampmill.label([loop, loop.replace("* 2", "/ 3"), "int broken( {"], language="c", task="size").to_pandas()
    assert list(labels["verdict"]) == ["accepted", "accepted", "does-not-compile"]
    small = stampmill.opt([loop], language="c")
    assert small["instructions"] <= small["oz"] < small["before"]
    broken = stampmill.opt(["int broken( {"], language="c")
    assert broken.exit_status == 1 and broken["verdict"] == "does-not-compile"
    with pytest.raises(ValueError, match="one program, not 2"):
        stampmill.opt([loop, loop], language="c")


def test_rewards() -> None:
    slow = (
        "#include <cstdio>\nint main() { int n; scanf(\"%d\", &n); volatile long s = 0; "
        "for (int k = 0; k < 200; k++) { s = 0; for (int i = 1; i <= n; i++) s += i; } printf(\"%ld\\n\", s); }\n"
    )
    fast = '#include <cstdio>\nint main() { int n; scanf("%d", &n); printf("%ld\\n", (long)n * (n + 1) / 2); }\n'
    cheat = '#include <cstdio>\nint main() { int n; scanf("%d", &n); puts(n == 1000 ? "500500" : "2001000"); }\n'
    tests = (("1000\n", "500500\n"), ("2000\n", "2001000\n"))
    hidden = rewards.Problem(slow, tests, (("3000\n", "4501500\n"),))
    open_ = rewards.Problem(slow, tests)
    found = rewards.judge([(hidden, cheat), (open_, fast), (hidden, "int main( {"), (hidden, fast)])
    assert [one.verdict for one in found] == ["answer-table", "accepted", "does-not-compile", "accepted"]
    assert [one.is_cheat for one in found] == [True, False, False, False]
    assert found[0].reward == -1 and found[2].reward == 0 and found[1].reward == found[1].speedup > 2
    flat = rewards.judge([(hidden, fast)], reward=lambda one: float(one.verdict == "accepted"))
    assert flat[0].reward == 1
    assert rewards.judge([]) == []


def test_a_negative_result_is_a_result(texts: list[str], tmp_path: Path) -> None:
    vectors = stampmill.features(texts[1:2], space="grewe")
    assert vectors.exit_status == 1 and vectors.to_pandas()["verdict"].to_list() == ["does-not-compile"]
    made = stampmill.features(texts, space="grewe", out=tmp_path / "vectors")
    shard = next(tmp_path.glob("vectors/*.parquet"))
    shard.write_bytes(shard.read_bytes()[:-1])
    checked = stampmill.fsck(made)
    assert checked.exit_status == 1 and not checked["ok"]


def test_tables_of_others_come_in_and_go_out(texts: list[str], tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    pd.DataFrame({"src": texts, "path": [f"{at}.cl" for at in range(len(texts))]}).to_csv(table, index=False)
    raw = stampmill.import_(table, schema="content-file", column={"text": "src"}, fill=True, out=tmp_path / "raw")
    assert raw.to_pandas()["text"].to_list() == texts
    vectors = stampmill.features(raw, space="grewe", out=tmp_path / "vectors")
    written = stampmill.export(vectors, to=tmp_path / "vectors.csv", format="csv")
    assert written["rows"] == len(vectors)
    read = pd.read_csv(tmp_path / "vectors.csv")
    assert read["grewe.mem"].dropna().to_list() == vectors.to_pandas()["grewe.mem"].dropna().to_list()
    assert len(stampmill.import_(tmp_path / "vectors.csv")) == len(vectors)


def test_an_error_says_what_to_do(texts: list[str], tmp_path: Path) -> None:
    with pytest.raises(stampmill.Error, match="no feature space `instcont`") as space:
        stampmill.features(texts, space="instcont")
    assert space.value.exit_status == 2 and "instcount" in space.value.advice
    stampmill.features(texts, space="grewe", out=tmp_path / "vectors")
    with pytest.raises(stampmill.Error, match="exists already") as exists:
        stampmill.features(texts, space="grewe", out=tmp_path / "vectors")
    assert "--force" in exists.value.advice
    assert len(stampmill.features(texts, space="grewe", out=tmp_path / "vectors", force=True)) == 3
    with pytest.raises(stampmill.Error, match="did you mean `verdict`"):
        stampmill.query("SELECT verdit FROM dataset", tmp_path / "vectors")
    with pytest.raises(stampmill.Error) as unknown:
        stampmill.command("features", tmp_path, spaec="grewe")
    assert "--space" in unknown.value.advice and "Usage" not in unknown.value.message
    copy = pickle.loads(pickle.dumps(unknown.value))
    assert (copy.message, copy.exit_status, copy.command) == (
        unknown.value.message,
        unknown.value.exit_status,
        unknown.value.command,
    )


def test_an_error_names_the_verdict_of_the_program_at_fault(texts: list[str], tmp_path: Path) -> None:
    assert len(stampmill.features(texts, space="grewe").check()) == 3
    with pytest.raises(stampmill.Error, match="does-not-compile") as broken:
        stampmill.features([texts[1]], space="grewe").check()
    assert broken.value.exit_status == 1 and broken.value.verdict == "does-not-compile"
    assert broken.value.verdicts == {"does-not-compile": 1}
    (tmp_path / "broken.cl").write_text(texts[1])
    with pytest.raises(stampmill.Error, match="does-not-compile: .*expected") as one:
        stampmill.opt(tmp_path / "broken.cl").check()
    assert one.value.verdict == "does-not-compile" and one.value.summary["verdict"] == "does-not-compile"
    copy = pickle.loads(pickle.dumps(one.value))
    assert (copy.verdict, copy.verdicts) == ("does-not-compile", {"does-not-compile": 1})
    # What no program is at fault for has no verdict.
    with pytest.raises(stampmill.Error) as nothing:
        stampmill.features(texts, space="instcont")
    assert nothing.value.verdict is None and nothing.value.verdicts == {}


def test_the_verdict_of_most_programs_is_named() -> None:
    error = _error.negative(1, {"verdicts": {"accepted": 9, "too-small": 2, "does-not-compile": 2, "no-kernel": 1}})
    assert error.verdict == "does-not-compile" and error.verdicts["accepted"] == 9
    assert error.message == "accepted 9, does-not-compile 2, no-kernel 1, too-small 2"
    assert _error.negative(1, {"rejected": {"no-kernel": 3}}).verdict == "no-kernel"
    assert _error.negative(1, {"outcomes": {"pass": 1}, "rejected": 4}).verdict is None
    assert _error.negative(1, {"ok": False}).message == "the command calls its result negative"


def test_mistakes_are_found_before_anything_starts(texts: list[str]) -> None:
    with pytest.raises(ValueError, match="in a list"):
        stampmill.features(texts[0])
    with pytest.raises(TypeError, match="input 1 is NoneType"):
        stampmill.features([texts[0], None])  # type: ignore[list-item]
    with pytest.raises(ValueError, match="no column text: it has source"):
        stampmill.features(pd.DataFrame({"source": texts}))
    with pytest.raises(FileNotFoundError, match="no data set"):
        stampmill.Dataset("/nothing")
    with pytest.raises(ValueError, match="is empty"):
        stampmill.features([])
    with pytest.raises(TypeError, match="did you mean space"):
        stampmill.features(texts, spce="grewe")  # type: ignore[call-arg]


def test_a_path_that_looks_like_an_option_is_a_path(texts: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("--json.cl").write_text(texts[0])
    assert len(stampmill.features("--json.cl", space="grewe", out="-o")) == 1
    assert Path("-o").is_dir()


def test_temporary_data_live_as_long_as_their_object(texts: list[str]) -> None:
    vectors = stampmill.features(texts, space="grewe")
    path = vectors.path
    assert path.is_dir()
    del vectors
    gc.collect()
    assert not path.exists() and not path.parent.exists()


def test_without_pandas_the_message_says_so(texts: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    vectors = stampmill.features(texts, space="grewe")
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"pip install 'stampmill\[pandas\]'"):
        vectors.to_pandas()
    assert vectors.to_arrow().num_rows == 3


def test_a_data_set_that_was_changed_is_not_read(texts: list[str], tmp_path: Path) -> None:
    made = stampmill.features(texts, space=["grewe"], out=tmp_path / "vectors")
    part = made.path / made.manifest["shards"][0]["file"]
    content = bytearray(part.read_bytes())
    content[len(content) // 2] ^= 1
    part.write_bytes(content)
    with pytest.raises(stampmill.Error, match="it was changed"):
        made.to_pandas()


def test_a_source_that_cannot_be_had_is_warned_of(texts: list[str], tmp_path: Path) -> None:
    (tmp_path / "source").mkdir()
    (tmp_path / "source" / "a.cl").write_text(texts[0])
    (tmp_path / "not.zip").write_text("no archive")
    with pytest.warns(UserWarning, match="1 of 2 sources failed"):
        stampmill.mine([tmp_path / "source", tmp_path / "not.zip"], out=tmp_path / "raw")


def test_kernels_are_rewritten_by_rule(tmp_path: Path) -> None:
    text = "kernel void k(global float *a) { for (int i = 0; i < 8; i++) a[get_global_id(0)] += i; }"
    made = stampmill.edits.propose_kernels([text], out=tmp_path / "pairs.jsonl", rules=["unroll", "accumulate"])
    assert made["rules"] == {"unroll": 1, "accumulate": 1}


def test_kernels_are_paired_by_the_macros_that_tune_them(tmp_path: Path) -> None:
    text = "kernel void k(global float *a) {\n#ifdef TWO\n  a[get_global_id(0)] += 2;\n#else\n  a[get_global_id(0)] += 1;\n#endif\n}\n"
    (tmp_path / "variants.jsonl").write_text('[]\n["TWO"]\n')
    made = stampmill.edits.pair_kernels([text], out=tmp_path / "pairs.jsonl", variants=tmp_path / "variants.jsonl")
    assert (made["pairs"], made["variants"]) == (1, 2)

"""What stages take: paths, data sets, and programs that are in memory."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Union

from ._dataset import Dataset, Labels

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

Language = Literal["opencl", "c", "c++", "rust", "llvm"]
"""The language of texts."""

SUFFIXES: dict[str, str] = {"opencl": "cl", "c": "c", "c++": "cpp", "rust": "rs", "llvm": "ll"}

PathLike = Union[str, os.PathLike[str]]
"""A path. `Dataset` is one."""

Texts = Union[Sequence[str], Mapping[str, str], "pd.DataFrame", "pd.Series[str]", "pa.Table"]
"""Programs in memory: a list of texts, texts by name, a column of texts, or a table with a column `text`."""

Programs = Union[PathLike, Texts]
"""A data set, a folder or file of programs, or programs in memory."""


def is_path(value: object) -> bool:
    return isinstance(value, (str, os.PathLike))


def path(value: PathLike) -> str:
    """A path for the command line, for the usual mistake an error."""
    word = os.fspath(value)
    if isinstance(value, str) and ("\n" in word or "{" in word) and not os.path.exists(word):
        raise ValueError("a string is a path: put a program's text in a list, as [text]")
    return word


def labelled(texts: object) -> Labelled:
    """Texts and what the caller calls them."""
    name = "input"
    found: list[Any]
    labels: Sequence[Any]
    if hasattr(texts, "column_names"):  # an Arrow table
        _has_text(texts.column_names)
        found = texts.column("text").to_pylist()  # type: ignore[attr-defined]
        labels = range(len(found))
    elif hasattr(texts, "to_pylist"):  # an Arrow array
        found = texts.to_pylist()
        labels = range(len(found))
    elif isinstance(texts, Mapping):
        found = list(texts.values())
        labels = list(texts)
    elif hasattr(texts, "columns") and hasattr(texts, "index"):  # a data frame
        _has_text([str(column) for column in texts.columns])
        return labelled(texts["text"])  # type: ignore[index]
    elif hasattr(texts, "index") and hasattr(texts, "tolist"):  # a series
        found, labels, name = texts.tolist(), list(texts.index), texts.index.name or name
    elif isinstance(texts, Iterable) and not isinstance(texts, (bytes, bytearray)):
        found = list(texts)
        labels = range(len(found))
    else:
        raise TypeError(f"no programs: {type(texts).__name__}; give a path, a Dataset, a list of texts or a table with a column text")
    for label, text in zip(labels, found):
        if not isinstance(text, str):
            raise TypeError(f"the text of input {label!r} is {type(text).__name__}, not a string: leave such rows out first")
    return Labelled(found, Labels(str(name), labels, found))


class Labelled:
    """Texts with their labels."""

    def __init__(self, texts: list[str], labels: Labels) -> None:
        self.texts = texts
        self.labels = labels


def _has_text(columns: Sequence[str]) -> None:
    if "text" not in columns:
        raise ValueError(f"the table has no column text: it has {', '.join(columns)}")


class Inputs:
    """Inputs as paths. Those that are in memory are written to a temporary folder, for as long as the block lasts."""

    def __init__(self, language: Language = "opencl") -> None:
        if language not in SUFFIXES:
            raise ValueError(f"no language {language!r}: there are {', '.join(SUFFIXES)}")
        self.language = language
        self.labels: Labels | None = None
        self._folders: list[tempfile.TemporaryDirectory[str]] = []

    def __enter__(self) -> Inputs:
        return self

    def __exit__(self, *_: object) -> None:
        for folder in self._folders:
            folder.cleanup()

    def folder(self) -> Path:
        """A new temporary folder."""
        made = tempfile.TemporaryDirectory(prefix="stampmill-")
        self._folders.append(made)
        return Path(made.name)

    def programs(self, value: Programs) -> str:
        """Programs as a path. Their labels are kept."""
        if is_path(value):
            if isinstance(value, Dataset):
                self.labels = value._labels
            return path(value)  # type: ignore[arg-type]
        given = labelled(value)
        if not given.texts:
            raise ValueError("no programs: the list of texts is empty")
        # The name of the folder is the input's name in `_dataset.json`, so it is always the same.
        folder = self.folder() / "texts"
        folder.mkdir()
        for place, text in enumerate(given.texts):
            (folder / f"text-{place:08}.{SUFFIXES[self.language]}").write_bytes(encoded(text))
        self.labels = given.labels
        return str(folder)

    def suite(self, value: Texts, stdin: PathLike | Sequence[PathLike]) -> str:
        """C++ programs as JSON lines that `time --suite` reads."""
        given = labelled(value)
        if not given.texts:
            raise ValueError("no programs: the list of texts is empty")
        each = [stdin] * len(given.texts) if isinstance(stdin, (str, os.PathLike)) else list(stdin)
        inputs = [one if isinstance(one, str) else Path(one).read_bytes().decode("utf-8") for one in each]
        if len(inputs) != len(given.texts):
            raise ValueError(f"{len(given.texts)} programs and {len(inputs)} inputs: give one, or one for each program")
        file = self.folder() / "texts.jsonl"
        with file.open("w", encoding="utf-8", errors="surrogateescape") as lines:
            for place, (text, one) in enumerate(zip(given.texts, inputs)):
                lines.write(json.dumps({"name": f"text-{place:08}", "src": text, "stdin": one}) + "\n")
        self.labels = given.labels
        return str(file)

    def table(self, value: object) -> str:
        """Rows as a path: those in memory as a Parquet file."""
        if is_path(value):
            return path(value)  # type: ignore[arg-type]
        import pyarrow as pa
        import pyarrow.parquet as pq

        if not isinstance(value, pa.Table):
            if not hasattr(value, "columns"):
                raise TypeError(f"no table: {type(value).__name__}; give a path, a Dataset, a DataFrame or an Arrow table")
            value = pa.Table.from_pandas(value, preserve_index=False)  # type: ignore[arg-type]
        file = self.folder() / "table.parquet"
        pq.write_table(value, file)
        return str(file)


def encoded(text: str) -> bytes:
    """Bytes of a text; those that were no UTF-8 where Python read it are what they were."""
    return text.encode("utf-8", errors="surrogateescape")

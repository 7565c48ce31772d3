"""Data sets and summaries: what stages give."""

from __future__ import annotations

import json
import os
import re
import shutil
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _error, _run
from ._error import Error

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

MANIFEST = "_dataset.json"
CHECKED = 64 << 20
"""Bytes of a data set that is compared with its hashes whenever it is read."""
TEXT_NAME = re.compile(r"text-(\d{8})")


class Report(dict[str, Any]):
    """The summary of a command that makes no data set: the object that its `--json` prints.

    Attributes:
        exit_status: 0, or 1 for a negative result (a program that does not compile, a data set that is damaged).
    """

    exit_status: int

    def __init__(self, summary: Mapping[str, Any], exit_status: int = 0) -> None:
        super().__init__(summary)
        self.exit_status = exit_status

    def check(self) -> Report:
        """This, where the result is not negative.

        Raises:
            Error: it is; `verdict` names what is wrong with the program.
        """
        if self.exit_status:
            raise _error.negative(self.exit_status, self)
        return self


class Labels:
    """Which row of the caller's input each text was."""

    def __init__(self, name: str, labels: Sequence[Any], texts: Sequence[str]) -> None:
        self.name = name
        self.labels = list(labels)
        first: dict[str, int] = {}
        self._same = [first.setdefault(text, place) for place, text in enumerate(texts)]

    def rows(self, places: Sequence[int | None]) -> tuple[list[int], list[int]]:
        """For rows that are about the texts at `places`: rows to take, and which text each is about, in the order of
        the texts. A text that has no row and is equal to one that has (stages keep one of equal texts) gets its rows.
        """
        of: dict[int, list[int]] = {}
        for row, place in enumerate(places):
            if place is not None:
                of.setdefault(place, []).append(row)
        taken = [(row, place) for place, same in enumerate(self._same) for row in of.get(place, of.get(same, []))]
        return [row for row, _ in taken], [place for _, place in taken]


class Dataset:
    """A data set: a folder of Parquet files and one `_dataset.json`.

    `Dataset(path)` opens one that is there. It goes wherever a path goes. A data set that a stage made without `out`
    lies in a temporary folder, which is removed with the object.

    Attributes:
        path: the folder.
        manifest: what `_dataset.json` says: schema, inputs, configuration, seed, tools, verdicts.
        summary: the summary of the command that made it, as its `--json` prints it.
        exit_status: 0, or 1 where the command calls the result negative: no program was accepted, for example.
    """

    path: Path
    manifest: dict[str, Any]
    summary: dict[str, Any]
    exit_status: int

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        try:
            self.manifest = json.loads((self.path / MANIFEST).read_bytes())
        except FileNotFoundError:
            raise FileNotFoundError(f"no data set at {self.path}: it holds no {MANIFEST}") from None
        self.summary = self.manifest.get("summary") or {}
        self.exit_status = 0
        self._labels: Labels | None = None

    @classmethod
    def _made(
        cls, path: Path, summary: dict[str, Any], exit_status: int, labels: Labels | None, temporary: Path | None
    ) -> Dataset:
        made = cls(path)
        made.summary = summary
        made.exit_status = exit_status
        if labels is not None and labels.labels:
            made._labels = labels
        if temporary is not None:
            weakref.finalize(made, shutil.rmtree, temporary, ignore_errors=True)
        return made

    def check(self) -> Dataset:
        """This, where the command that made it did not call it negative.

        Raises:
            Error: it did; `verdict` and `verdicts` name what is wrong with the programs.
        """
        if self.exit_status:
            raise _error.negative(self.exit_status, self.summary)
        return self

    @property
    def schema(self) -> str:
        """The name of its schema: `kernel`, `features`, `steered`, ..."""
        return str(self.manifest["schema"])

    def __len__(self) -> int:
        """Rows on disk, those of rejected programs included."""
        return int(self.manifest["rows"])

    def __fspath__(self) -> str:
        return str(self.path)

    def __repr__(self) -> str:
        return f"<stampmill.Dataset {self.schema}: {len(self):,} rows in {self.path}>"

    def to_arrow(self, *, raw: bool = False) -> pa.Table:
        """All rows, in the order of the data set.

        Vectors of a feature space are one column for each dimension, `instcount.TotalInsts`, those of `steer` too;
        costs of a task are one for each choice, `cost.GPU`. Where the data set was
        made from texts, the first column, `input`, is the label of the text (its position, key or index), and rows
        are in the order of the texts. `raw=True`: the columns as they are on disk.

        Raises:
            Error: a part of up to 64 MiB in all is not as the data set's manifest says, as every command finds; for larger
                data sets `stampmill fsck` does.
        """
        self._check()
        import pyarrow as pa
        import pyarrow.parquet as pq

        # One by one: a schema may have grown columns between the parts of a merge.
        parts = [pq.read_table(self.path / shard["file"]) for shard in self.manifest["shards"]]
        table = pa.concat_tables(parts, promote_options="default") if parts else pa.table({})
        table = table.replace_schema_metadata(None)
        if raw:
            return table
        table, places = self._ordered(self._named(table))
        if places is None or self._labels is None:
            return table
        labels = [self._labels.labels[place] for place in places]
        try:
            column = pa.array(labels)
        except (pa.ArrowInvalid, pa.ArrowTypeError):
            # Labels of several types, which one column cannot hold.
            column = pa.array([str(label) for label in labels])
        return table.add_column(0, "input", column)

    def _check(self) -> None:
        """Compare the parts with their hashes, as every command does."""
        sizes = [shard.get("bytes", CHECKED + 1) for shard in self.manifest["shards"]]
        if not sizes or sum(sizes) > CHECKED:
            return
        found = _run.run("fsck", [str(self.path)], {"quiet": True})
        if found.exit_status:
            problems = [problem for one in found.summary["datasets"] for problem in one["problems"]]
            said = "; ".join(f"{self.path / one['file']}: {one['problem']}" for one in problems)
            raise Error(found.exit_status, f"{said}; take the data set from where it came from, or make it again")

    def to_pandas(self, *, raw: bool = False) -> pd.DataFrame:
        """The same as pandas. Where the data set was made from texts, their labels are the index, so that
        `frame.join(result.to_pandas())` lines up with the frame that the texts were a column of.

        Raises:
            ImportError: pandas is not installed.
        """
        try:
            import pandas
        except ImportError:
            raise ImportError("to_pandas needs pandas: pip install 'stampmill[pandas]', or use to_arrow()") from None
        table = self.to_arrow(raw=True)
        if raw:
            whole: pd.DataFrame = table.to_pandas()
            return whole
        table, places = self._ordered(self._named(table))
        frame: pd.DataFrame = table.to_pandas()
        if places is not None and self._labels is not None:
            frame.index = pandas.Index([self._labels.labels[place] for place in places], name=self._labels.name)
        return frame

    def _named(self, table: pa.Table) -> pa.Table:
        """Vectors and costs as a column for each dimension and each choice."""
        import pyarrow as pa
        import pyarrow.compute as pc

        settings: dict[str, Any] = self.manifest.get("configuration") or {}
        spaces: dict[str, list[str]] = settings.get("spaces") or {}
        # Which columns hold lists whose places have names: the names, and what stands before them.
        named = {space: (space, dimensions) for space, dimensions in spaces.items()}
        if self.schema == "steered" and settings.get("space") in spaces:
            named["vector"] = (settings["space"], spaces[settings["space"]])
        if self.schema == "task" and settings.get("choices"):
            named["costs"] = ("cost", settings["choices"])
        names: list[str] = []
        columns: list[Any] = []
        for name in table.column_names:
            column = table.column(name)
            if name in named and pa.types.is_struct(column.type):
                before, places = named[name]
                names += [f"{before}.{place}" for place in places]
                columns += [pc.struct_field(column, place) for place in places]
            elif name in named and pa.types.is_list(column.type):
                before, places = named[name]
                whole = pc.if_else(pc.equal(pc.list_value_length(column), pa.scalar(len(places))), column, None)
                names += [f"{before}.{place}" for place in places]
                columns += [pc.list_element(whole, place) for place in range(len(places))]
            elif self.schema != "features" or not pa.types.is_nested(column.type):
                names.append(name)
                columns.append(column)
        return pa.table(columns, names=names) if columns else table

    def _ordered(self, table: pa.Table) -> tuple[pa.Table, list[int] | None]:
        """The rows in the order of the texts, and which text each is about; `None`: they are about no texts."""
        if self._labels is None:
            return table, None
        for column in ("path", "name"):
            if column in table.column_names and (of := self._places(table, column)):
                rows, places = self._labels.rows(of)
                return table.take(rows), places
        return table, None

    @staticmethod
    def _places(table: pa.Table, column: str) -> list[int | None]:
        """Which text each row is about; empty where the column names no text."""
        found = [TEXT_NAME.match(value or "") for value in table.column(column).to_pylist()]
        return [int(one[1]) if one else None for one in found] if any(found) else []

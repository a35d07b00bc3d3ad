"""The columns of frames of all libraries, each as a frame of its own."""

from __future__ import annotations

from typing import Any


def of(frame: Any) -> list[tuple[Any, Any, Any]] | None:
    """The label and values of each column, and a frame of it alone; None for other values."""
    root = "numpy" if type(frame) is dict else type(frame).__module__.partition(".")[0]
    if root == "numpy":
        return [(name, array, {name: array}) for name, array in frame.items()]
    if root == "pandas":
        import pandas as pd

        if type(frame) is not pd.DataFrame:
            return None
        columns = [frame.iloc[:, i] for i in range(frame.shape[1])]
        return [(column.name, column, _pandas_frame(column)) for column in columns]
    if root == "polars":
        return (
            [(one.name, one, one.to_frame()) for one in frame.get_columns()] if hasattr(frame, "get_columns") else None
        )
    if root == "pyarrow":
        if not hasattr(frame, "select"):
            return None
        names = frame.schema.names
        return [(name, frame.column(i), frame.select([i])) for i, name in enumerate(names)]
    import static_frame as sf

    if not isinstance(frame, sf.Frame):
        return None
    labels = list(frame.columns)
    arrays = [frame.iloc[:, i].values for i in range(len(labels))]
    return [
        (label, array, sf.Frame.from_items([(str(label), array)])) for label, array in zip(labels, arrays, strict=True)
    ]


def _pandas_frame(column: Any) -> Any:
    import pandas as pd

    one = column.reset_index(drop=True).to_frame()
    one.columns = pd.Index([str(column.name)])
    one.attrs = {}
    return one

"""Codec of a StaticFrame Bus: labelled frames."""

from __future__ import annotations

from typing import Any

from .parts import UNSUPPORTED, object_parts


def encode(value: Any) -> tuple[Any, ...]:
    import static_frame as sf

    if type(value) is not sf.Bus:
        return UNSUPPORTED
    # `values` loads all frames of the Bus.
    return object_parts("static_frame.Bus", value.index, list(value.values), value.name)


def _bus(index: Any, frames: list[Any], name: Any) -> Any:
    import numpy as np
    import static_frame as sf

    if not isinstance(index, sf.Index | sf.IndexHierarchy) or not all(isinstance(one, sf.Frame) for one in frames):
        raise TypeError("a Bus has labels and frames")
    # StaticFrame requires hashable names. This raises for others.
    hash(name)
    array = np.empty(len(frames), dtype=object)
    array[:] = frames
    array.flags.writeable = False
    try:
        return sf.Bus(array, index=index, name=name, own_data=True)
    except sf.ErrorInit as error:
        raise ValueError(f"no Bus is made of it: {error}") from error


DECODE = {"static_frame.Bus": _bus}

"""Descriptions of NumPy dtypes that a column type does not determine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from entasis._host_map import interpretation
from entasis.errors import CorruptFileError, OutOfMemoryError, UnsupportedTypeError

if TYPE_CHECKING:
    from entasis._entasis import ArrowColumn

# Kinds of fields whose values are plain bytes.
_KINDS = "biufcmMSUV"
# Smaller arrays are not checked.
_LARGE = 1 << 32
_NUMBERS = {"bool": bool, "int": int, "float": float, "complex": complex}


def as_bytes(array: Any) -> Any:
    """View an array as plain bytes (dtype `V`)."""
    return array.view(f"V{array.dtype.itemsize}")


def check_size(array: Any) -> None:
    """Refuse an array that repeats values (stride 0) and whose copy would not fit into memory."""
    if array.nbytes < _LARGE or all(array.strides):
        return
    import os

    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if hasattr(os, "sysconf") else _LARGE
    if array.nbytes > memory:
        what = f"an array of {array.nbytes:,} bytes, which repeats few of them"
        raise OutOfMemoryError(f"{what}: more than the memory here, of {memory:,} bytes")


def has_multiple(dtype: Any) -> bool:
    """Whether a dtype of times has a step other than 1, or dates without a unit."""
    import numpy as np

    if dtype.kind not in "mM":
        return False
    unit, step = np.datetime_data(dtype)
    return step != 1 or (unit == "generic" and dtype.kind == "M")


def encode(dtype: Any, what: str) -> Any:
    """Describe the dtype of records: a string, or a map for a dtype with fields or a shape."""
    description = _encode(dtype, what)
    if _decode(description) != dtype:
        raise UnsupportedTypeError(f"{what}: dtype {dtype} is not supported yet")
    return description


def _encode(dtype: Any, what: str) -> Any:
    if dtype.metadata is not None or dtype.type.__name__ == "record":
        named = "has metadata" if dtype.metadata is not None else "is of numpy.record"
        raise UnsupportedTypeError(f"{what}: dtype {dtype} {named}, which is not supported yet")
    if dtype.subdtype is not None:
        base, shape = dtype.subdtype
        return {"of": _encode(base, what), "shape": list(shape)}
    if dtype.names is None:
        if dtype.kind not in _KINDS:
            raise UnsupportedTypeError(f"{what}: a field of dtype {dtype} is not supported yet")
        return dtype.str
    fields = [dtype.fields[name] for name in dtype.names]
    if any(len(field) > 2 for field in fields):
        raise UnsupportedTypeError(f"{what}: dtype {dtype} has titles, which are not supported yet")
    return {
        "names": list(dtype.names),
        "formats": [_encode(field[0], what) for field in fields],
        "offsets": [field[1] for field in fields],
        "itemsize": dtype.itemsize,
        "aligned": bool(dtype.isalignedstruct),
    }


@interpretation()
def decode(description: Any, itemsize: int | None) -> Any:
    """Return the dtype of a description.

    A dtype with objects is refused: a file can't hold pointers.
    """
    dtype = _decode(description)
    if dtype.hasobject or (itemsize is not None and dtype.itemsize != itemsize):
        raise CorruptFileError(f"records have {itemsize} bytes, but dtype {dtype} has {dtype.itemsize}")
    return dtype


def _decode(description: Any) -> Any:
    import numpy as np

    if type(description) is str:
        dtype = np.dtype(description)
        if dtype.kind not in _KINDS or dtype.names is not None or dtype.subdtype is not None:
            raise ValueError(f"a field of {dtype}")
        return dtype
    if "of" in description:
        return np.dtype((_decode(description["of"]), tuple(description["shape"])))
    parts: Any = {key: description[key] for key in ("names", "offsets", "itemsize")}
    parts["formats"] = [_decode(part) for part in description["formats"]]
    return np.dtype(parts, align=description["aligned"])


def encode_scalar(value: Any, dtype: Any) -> dict[str, Any] | None:
    """Describe a number by its bytes in a dtype.

    None for a value that the dtype does not hold exactly.
    """
    import numpy as np

    try:
        array = np.array([value], dtype)
    except (TypeError, ValueError, OverflowError):
        return None
    if not hasattr(value, "dtype") and type(value).__name__ not in _NUMBERS and dtype.kind not in "mM":
        return None
    same = array[0] == value or (array[0] != array[0] and value != value)
    if not same or dtype.kind not in "biufcmM" or not dtype.isnative or dtype.char in "gG":
        return None
    return {"bytes": array.tobytes()}


@interpretation()
def decode_scalar(description: Any, dtype: Any) -> Any:
    """Return the number of a description."""
    import numpy as np

    (value,) = np.frombuffer(description["bytes"], dtype)
    python = description.get("python")
    if python is None:
        return value
    if dtype.kind not in "biufc":
        raise TypeError(f"a number of Python as a value of {dtype}")
    number = value.item()
    # The user may have given a complex fill value as a real number.
    return _NUMBERS[python](number.real if python != "complex" else number)


def encode_string(dtype: Any, what: str) -> dict[str, Any]:
    """Describe a `StringDType`."""
    description: dict[str, Any] = {"coerce": bool(dtype.coerce)}
    if not hasattr(dtype, "na_object"):
        return description
    na = dtype.na_object
    if na is None:
        return description | {"na": "None"}
    if isinstance(na, float) and na != na:
        return description | {"na": "NaN"}
    if type(na).__name__ == "NAType":
        return description | {"na": "NA"}
    if type(na) is str:
        return description | {"na_text": na}
    raise UnsupportedTypeError(f"{what}: strings with {na!r} for missing values are not supported yet")


@interpretation()
def decode_string(description: Any, values: ArrowColumn) -> Any:
    """Make an array of a described `StringDType`."""
    import numpy as np

    make: Any = np.dtypes.StringDType
    na: Any = None
    if "na_text" in description:
        na = description["na_text"]
        if type(na) is not str:
            raise TypeError("the marker of missing strings must be a string")
        dtype = make(coerce=description["coerce"], na_object=na)
    elif "na" not in description:
        dtype = make(coerce=description["coerce"])
    else:
        if description["na"] == "NA":
            import pandas as pd

            na = pd.NA
        else:
            na = {"None": None, "NaN": np.nan}[description["na"]]
        dtype = make(coerce=description["coerce"], na_object=na)
    return np.array(values.to_objects(na), dtype=dtype)

"""Which outcomes of a call with hostile bytes are right."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import entasis as en

if TYPE_CHECKING:
    from collections.abc import Callable


# Keeps the values of small files that promise many rows small.
LIMITS: Any = {"decoded_len": 1 << 26}
# Dates with a time, times beyond a day, and decimals with more digits than their type.
_ACCEPTED = ("whole number of days", "acceptable range", "does not fit in precision")


def attempt(call: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """Return the result of a call, or the error with which the package refused.

    Lets every other error pass, also `InternalError`, which reports a defect of the package.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return call(*args, **options)
    except en.InternalError:
        raise
    except (en.EntasisError, MemoryError) as error:
        # The traceback would keep all that the call made.
        return error.with_traceback(None)


def is_refusal(found: Any) -> bool:
    """Whether `attempt` returned an error."""
    return isinstance(found, BaseException)


def examine(value: Any) -> None:
    """Raise an error if a value that was read is not valid for its library."""
    root = type(value).__module__.partition(".")[0]
    if root == "pyarrow" and hasattr(value, "validate"):
        try:
            value.validate(full=True)
        except ValueError as error:
            # pyarrow makes such arrays itself, so they are kept.
            if not any(reason in str(error) for reason in _ACCEPTED):
                raise
    elif root == "polars" and hasattr(value, "equals"):
        assert value.equals(value, null_equal=True) in (True, False)

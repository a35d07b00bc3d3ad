"""Answers the requests of the command."""

from __future__ import annotations

import json
import signal
import threading
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from . import messages as _messages

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from entasis._entasis import Key, Password


def call(
    verb: str,
    inputs: Sequence[str | bytes],
    output: str | None,
    options: str,
    progress: Callable[[int, int | None], Any],
    secret: Key | Password | None = None,
) -> tuple[str, bytes | None]:
    """Do the work of a verb.

    Parameters
    ----------
    verb
        "convert", "diff", "read", "compact" or "clean".
    inputs
        Paths, and contents of files.
    output
        The path of the file to write; for `convert` None is the standard output.
    options
        A JSON object with other arguments.
    progress
        Is called with what is done, and with all of it if that is known.
    secret
        The key or password of encrypted files.

    Returns
    -------
    tuple
        A JSON object: `state` is "done", "failed", "stopped" or "closed"; `notes` are warnings, and
        `result` or `message` the outcome. And for "read" an Entasis file with the rows.
    """
    answer: dict[str, Any] = {}
    content: bytes | None = None
    notes: list[str] = []
    interrupt = Interrupt()

    def report(done: int, total: int | None) -> Any:
        interrupt.check()
        return progress(done, total)

    try:
        with interrupt.raised(), warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                result, content = _work(verb, inputs, output, json.loads(options), report, secret)
                answer = {"state": "done", "result": result}
            finally:
                notes = _messages.of_warnings(caught, output)
    except KeyboardInterrupt:
        answer = {"state": "stopped"}
    except Exception as error:
        if interrupt.came:
            answer = {"state": "stopped"}
        elif _messages.is_closed_pipe(error):
            answer = {"state": "closed"}
        else:
            notes += _messages.of_losses(error, output)
            answer = {"state": "failed", "message": _messages.of_error(error)}
    return json.dumps({**answer, "notes": notes}), content


def _work(
    verb: str,
    inputs: Sequence[str | bytes],
    output: str | None,
    options: dict[str, Any],
    progress: Callable[[int, int | None], Any],
    secret: Key | Password | None,
) -> tuple[dict[str, Any], bytes | None]:
    if verb == "convert":
        from .convert import convert

        return convert(inputs, output, options, progress, secret), None
    if verb in ("compact", "clean"):
        from . import folder

        return getattr(folder, verb)(inputs, options, progress, secret), None
    if verb == "diff":
        from .diff import diff

        return diff(inputs, options, progress, secret), None
    from .read import read

    return read(inputs, options)


class Interrupt:
    """Whether Ctrl-C came.

    It raises an exception, which removes files that are not complete. Some libraries drop it or
    replace it by another one, for example pandas if it came while C code imports pandas. So it is
    also noted here.
    """

    def __init__(self) -> None:
        self.came = False

    def check(self) -> None:
        """Raise the exception once more if it was dropped."""
        if self.came:
            raise KeyboardInterrupt

    def _note(self, number: int, frame: Any) -> None:
        self.came = True
        raise KeyboardInterrupt

    @contextmanager
    def raised(self) -> Iterator[None]:
        """Let Ctrl-C raise an exception in this block."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        # The command ignores this handler before and afterwards.
        old = signal.signal(signal.SIGINT, self._note)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, signal.SIG_DFL if old is None else old)

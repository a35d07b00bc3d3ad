"""Options of a store: credentials, endpoints, time-outs."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from entasis.errors import ArgumentError

from . import option_names as names

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

# The types of values. Some options of fsspec are dicts.
_TYPES = (str, bytes, bool, int, float, timedelta, dict)
_CREDENTIALS = ("credentials", "credential_provider")


@dataclass(slots=True, repr=False)
class Settings:
    """Options of a store by obstore's names.

    Attributes
    ----------
    config
        Credentials and properties of the store.
    client
        Properties of connections.
    retry
        `max_retries`, and `retry_timeout` in seconds.
    credentials
        The function that returns credentials; None if there is none.
    """

    config: dict[str, Any] = field(default_factory=dict)
    client: dict[str, Any] = field(default_factory=dict)
    retry: dict[str, Any] = field(default_factory=dict)
    credentials: Callable[[], Any] | None = None


class Options:
    """Options of a store, whose values no representation, pickle or message has.

    Parameters
    ----------
    values
        Options by name, as obstore, Polars or fsspec name them. None values count as not given.
    credentials
        A function without parameters that returns credentials: a dict as obstore's credential
        providers return it. It can also be the option `credentials`.

    Notes
    -----
    A pickle has the names of the options, and the function by reference. Unpickled options take
    the values from the environment variables of the store.

    Raises
    ------
    ArgumentError
        The options are not a dict of names, or the function can't be called.
    """

    __slots__ = ("_credentials", "_names", "_values")

    def __init__(
        self, values: Mapping[str, Any] | Options | None = None, credentials: Callable[[], Any] | None = None
    ) -> None:
        self._values: dict[str, Any] = {}
        self._names: frozenset[str] = frozenset()
        self._credentials: Callable[[], Any] | None = None
        if isinstance(values, Options):
            credentials = credentials or values._credentials
            self._values, self._names = dict(values._values), values._names
        else:
            self._values = _flat(values)
        for name in _CREDENTIALS:
            given = self._values.pop(name, None)
            credentials = credentials if given is None else given
        if credentials is not None and not callable(credentials):
            raise ArgumentError("credentials is a function that returns a dict of credentials; it can't be called")
        self._credentials = credentials

    def __repr__(self) -> str:
        shown = sorted({*self._values, *self._names})
        return f"Options({', '.join(shown + ['credentials'] * (self._credentials is not None))})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Options):
            return NotImplemented
        mine = (self._values, self._names, self._credentials)
        return mine == (other._values, other._names, other._credentials)

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> Any:
        if self._credentials is not None:
            _check_reference(self._credentials)
        return _unpickled, (sorted({*self._values, *self._names}), self._credentials)

    def settings(self, kind: str) -> Settings:
        """The options of a kind of store by obstore's names.

        Raises
        ------
        ArgumentError
            Two names of one option have different values. Unpickled options have a name for which
            the environment has no value.
        """
        kind = "http" if kind == "hf" else kind
        found: dict[str, Any] = {}
        given: dict[str, str] = {}
        for name, value in self._values.items():
            for option, of in _translated(kind, names.canonical(kind, name), value):
                if option in found and found[option] != of:
                    raise ArgumentError(f"the options {given[option]!r} and {name!r} have different values; pass one")
                found[option], given[option] = of, name
        for name in self._names:
            option = names.canonical(kind, name)
            if option not in found:
                self._fill(kind, name, option, found)
        settings = Settings(credentials=self._credentials)
        for option, of in found.items():
            if option in names.RETRY:
                settings.retry[option] = of
            elif option in names.CLIENT or option in names.CLIENT_SECRET:
                settings.client[option] = of
            else:
                settings.config[option] = of
        return settings

    def _fill(self, kind: str, name: str, option: str, found: dict[str, Any]) -> None:
        """Take the value of an unpickled option from the environment."""
        variables = names.variables(kind, option)
        for variable in variables:
            if os.environ.get(variable):
                found.update(_translated(kind, option, os.environ[variable]))
                return
        if names.is_optional(option):
            return
        instead = f"set {variables[0]}, or pass" if variables else "pass"
        raise ArgumentError(
            f"the option {name!r} was not pickled, as it can be a secret, and the environment of this process "
            f"lacks it: {instead} credentials= with a function of a module, which is called in each process"
        )


def _unpickled(given: list[str], credentials: Callable[[], Any] | None) -> Options:
    options = Options(None, credentials)
    options._names = frozenset(given)
    return options


def _flat(values: Mapping[str, Any] | None) -> dict[str, Any]:
    """Options without nested dicts, such as fsspec's `client_kwargs`."""
    if values is None:
        return {}
    if not hasattr(values, "items"):
        raise ArgumentError(f"storage_options is a dict of names and values, not {type(values).__name__}")
    found: dict[str, Any] = {}
    for name, value in values.items():
        if not isinstance(name, str):
            raise ArgumentError(f"the names of storage_options are str, not {type(name).__name__}")
        if value is None:
            continue
        if name in names.NESTED:
            found.update(_flat(value))
        elif not isinstance(value, _TYPES) and name not in _CREDENTIALS:
            kind = type(value).__name__
            raise ArgumentError(f"the storage option {name!r} is {kind}; pass text, a number, True or False")
        else:
            found[name] = value
    return found


def _translated(kind: str, option: str, value: Any) -> list[tuple[str, Any]]:
    """An option as obstore has it; some of fsspec's become several."""
    if kind == "gs" and option == "token":
        return [_google_token(value)]
    if kind == "az" and option == "connection_string":
        return _connection_string(value)
    if option == "use_ssl":
        return []
    if option == "skip_signature" and isinstance(value, str):
        return [(option, value.lower() in ("1", "true", "yes", "on"))]
    return [(option, value)]


def _google_token(value: Any) -> tuple[str, Any]:
    """The option `token` of gcsfs."""
    if value == "anon":
        return "skip_signature", True
    if isinstance(value, dict):
        return "service_account_key", json.dumps(value)
    return ("application_credentials" if str(value).endswith(".json") else "bearer_token"), value


def _connection_string(value: Any) -> list[tuple[str, Any]]:
    known = {
        "accountname": "account_name",
        "accountkey": "account_key",
        "sharedaccesssignature": "sas_key",
        "blobendpoint": "endpoint",
    }
    parts = [part.partition("=") for part in str(value).split(";")]
    return [(known[name.lower()], of) for name, _, of in parts if name.lower() in known]


def _check_reference(function: Any) -> None:
    """Refuse functions that a pickle would hold by value, with all that they know."""
    module, name = getattr(function, "__module__", None), getattr(function, "__qualname__", None)
    found: Any = sys.modules.get(module) if isinstance(module, str) else None
    for part in name.split(".") if isinstance(name, str) else ():
        found = getattr(found, part, None)
    if found is not function:
        raise ArgumentError(
            f"credentials is {type(function).__name__} without a name in a module, and its pickle could hold secrets: "
            "define it as a function of a module"
        )

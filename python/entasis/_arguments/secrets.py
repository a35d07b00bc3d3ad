"""Keys and passwords of encrypted files, as arguments."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from entasis import _entasis
from entasis._entasis import Key, Password
from entasis.errors import ArgumentError, EntasisError

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    KeyBytes: TypeAlias = bytes | bytearray | memoryview | Key
    # Functions take the first as `key=`, and pass on the second. A function for the key is called
    # at each opening.
    AnyKey: TypeAlias = KeyBytes | Callable[[], KeyBytes]
    Secret: TypeAlias = Key | Password | Callable[[], KeyBytes]

# The core takes a key file, or else a password, from these when an encrypted file is opened without
# a secret.
_OF_ENVIRONMENT = ("ENTASIS_KEY_FILE", "ENTASIS_PASSWORD")


def in_environment() -> bool:
    """Whether the environment has a key or password, so that files without a secret may be encrypted."""
    return any(os.environ.get(name) for name in _OF_ENVIRONMENT)


def given(key: Any, password: Any) -> Secret | None:
    """Check the arguments `key=` and `password=`. A function for the key is not called yet.

    A `Password`, which was checked before, is also taken as the key.
    """
    if key is None and password is None:
        return None
    if key is not None and password is not None:
        raise ArgumentError("key= and password= are both given: pass the one that opens the file")
    if key is None:
        if not isinstance(password, str):
            raise ArgumentError(f"password= is {_kind(password)}: a password is text; pass bytes as key=")
        return Password(password)
    if callable(key):
        found: Secret = key
        return found
    return key if isinstance(key, Password) else _key(key)


def known(secret: Secret | None) -> Key | Password | None:
    """The key or password. A function is called."""
    return _key(secret()) if callable(secret) else secret


def of(key: Any, password: Any) -> Key | Password | None:
    """Check the arguments `key=` and `password=`, and return the key or password."""
    return known(given(key, password))


def of_file(path: str, key: Any, password: Any) -> Key | Password | None:
    """As `of`, for a file that is opened more than once: a password is derived only once."""
    found = of(key, password)
    if isinstance(found, Password) and os.path.isfile(path):
        return _entasis.unlock(path, found) if _entasis.keys_of(path) is not None else found
    return found


def is_encrypted(source: Any) -> bool:
    """Whether a file is encrypted: at a path, in memory, or on a store."""
    return _entasis.keys_of(source) is not None


def for_pickle(secret: Any) -> Any:
    """The part of a secret that a pickle may hold: a function of a module, else nothing."""
    if not callable(secret):
        return None
    module, name = getattr(secret, "__module__", None), getattr(secret, "__qualname__", None)
    found: Any = sys.modules.get(module) if isinstance(module, str) else None
    for part in name.split(".") if isinstance(name, str) else ():
        found = getattr(found, part, None)
    if found is not secret:
        raise ArgumentError(
            f"key= is {_kind(secret)} without a name in a module, and its pickle could hold the key: define it as a "
            "function of a module, or set ENTASIS_KEY_FILE and leave key= out"
        )
    return secret


def _key(key: Any) -> Key:
    if isinstance(key, Key):
        return key
    if isinstance(key, (bytes, bytearray, memoryview)):
        return Key(bytes(key))
    if isinstance(key, str):
        raise ArgumentError("key= is text: a key has 32 bytes; pass text as password=")
    if key is False:
        raise ArgumentError("key=False is for new files that are not encrypted: leave it out")
    raise ArgumentError(f"key= is {_kind(key)}: 32 bytes, a Key, or a function that returns one of these")


def _kind(value: Any) -> str:
    """The type of an argument. Messages never have the value."""
    name = type(value).__name__
    return f"{'an' if name[:1] in 'aeiouAEIO' else 'a'} {name}"


def is_ours(value: Any) -> bool:
    """Whether a value is an object of this package, such as an open file, a scan or a dataset."""
    return type(value).__module__[:8] == "entasis."


def refuse_encrypted(value: Any) -> None:
    """Refuse to store values of an encrypted file in a plain one.

    Frames and streams of other libraries do not say where their values are from.
    """
    if is_ours(value) and _has_secrets(value):
        raise ArgumentError(
            "the values are those of an encrypted file: pass key= or password= for the new one, or key=False to write "
            "them in clear"
        )


def _has_secrets(value: Any) -> bool:
    """Whether the values of an open file, a scan or a dataset are those of encrypted files."""
    query = getattr(value, "_query", None)
    if query is not None:
        # The rows of a file, or of many. Those of texts have neither.
        table = getattr(getattr(query, "view", None), "table", None)
        files = getattr(getattr(query, "table", None), "files", None)
        return _was_encrypted(table) if table is not None else files is not None and are_encrypted(files)
    if getattr(value, "closed", True):
        return False
    return _was_encrypted(value._view.table if hasattr(value, "_view") else value._part.cells)


def _was_encrypted(table: Any) -> bool:
    if table.secret is not None or not in_environment():
        return table.secret is not None
    try:
        return is_encrypted(table.path if table.content is None else table.content)
    except EntasisError:
        return False


def are_encrypted(files: Any) -> bool:
    """Whether one of the files of a table is encrypted."""
    if files.secret is not None or not in_environment():
        return files.secret is not None
    return any(is_encrypted(files.source(number)) for number in range(len(files.paths)))


def of_data_set(source: Any, secret: Secret | None) -> Secret | None:
    """The secret of a data set whose manifest is encrypted. A password becomes its key.

    Without a secret it is that of the environment. A plain data set has none.
    """
    if callable(secret) or isinstance(secret, Key):
        return secret
    if secret is None and not is_encrypted(source):
        return None
    return _entasis.unlock(source, secret)


def of_tasks(key: Any) -> Secret | None:
    """Check a key that other processes need: a function of a module."""
    if key is not None and not callable(key):
        raise ArgumentError(
            "tasks in other processes can't have the key itself: pass key= a function of a module that returns it, or "
            "set ENTASIS_KEY_FILE there"
        )
    found: Secret | None = for_pickle(key)
    return found

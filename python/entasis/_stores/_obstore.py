"""Stores through obstore."""

from __future__ import annotations

import contextlib
import os
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

import obstore
from obstore import store as stores

from entasis.errors import ArgumentError, FileError

from . import profiles, web
from .failures import called, guarded, reply
from .kept import Kept, environment
from .reader import HEAD, Ignored, Opened, Reader, Replaced, Stat, both, check
from .store import Entry, Store

if TYPE_CHECKING:
    from .address import Address
    from .content import Body
    from .options import Options, Settings

# Retries of a request, and for how many seconds a request is sent again at most.
_RETRIES, _RETRY_SECONDS = 10, 60
# A connection that is slow but alive can take minutes for a range. One without a byte for this
# many seconds is broken.
_TIMEOUTS = {"connect_timeout": 10, "read_timeout": 30, "timeout": 600}
# Uploads: the least bytes of a part, the most parts, and how many are sent at the same time.
_PART, _MOST_PARTS, _AT_ONCE = 8 << 20, 9_000, 8
_YES = ("1", "true", "yes", "on")

_kept = Kept()
# The process whose threads obstore uses. A process forked from it lacks them and would never
# end to wait.
_process: int | None = None


class ObstoreStore(Store):
    """A store of obstore for the bucket of an address."""

    can_create = True

    def __init__(self, address: Address, options: Options) -> None:
        self._address = address
        self._settings = options.settings(address.kind)
        self._store: Any = None

    def reader(self, address: Address) -> Reader:
        store = self._of(address)
        return ObstoreReader(store, _path(address))

    def put(self, address: Address, body: Body, size: int) -> None:
        part = max(_PART, -(-size // _MOST_PARTS))
        store = self._of(address, seconds=_seconds(part))
        obstore.put(store, _path(address), body, chunk_size=part, max_concurrency=_AT_ONCE)

    def create(self, address: Address, content: bytes) -> None:
        store = self._of(address, n_retries=0, seconds=_seconds(len(content)))
        obstore.put(store, _path(address), content, mode="create")

    def entries(self, address: Address, prefix: str) -> list[Entry]:
        folder = address.path.rstrip("/")
        # Stores list by whole parts of a path.
        parent = prefix.rpartition("/")[0]
        within = "/".join(filter(None, [folder, parent]))
        start = len(folder) + 1 if folder else 0
        found = []
        for objects in obstore.list(self._of(address), within or None, chunk_size=1000):
            for meta in objects:
                path = meta["path"][start:]
                # A folder itself can be an empty object.
                if path and path.startswith(prefix):
                    found.append(Entry(path, *_stat(meta), meta["last_modified"].timestamp()))
        return sorted(found)

    def delete(self, address: Address) -> None:
        with contextlib.suppress(FileNotFoundError):
            obstore.delete(self._of(address), [_path(address)])

    def _of(self, address: Address, n_retries: int | None = None, seconds: int | None = None) -> Any:
        """The store of obstore. Uploads have another number of retries, and seconds to complete."""
        _check_process()
        make = partial(_built, address, self._settings, n_retries, seconds)
        if address.kind in ("http", "hf"):
            return make()
        return _kept.get(_key(address, self._settings, n_retries, seconds), make)


class ObstoreReader(Reader):
    """An object of a store of obstore."""

    verifies = True

    def __init__(self, store: Any, path: str) -> None:
        super().__init__()
        self._store, self._path = store, path
        # Azure has no ranges that count from the end.
        self._has_suffixes = not isinstance(store, stores.AzureStore)

    def stat(self) -> Stat:
        self._count()
        _check_process()
        return _stat(obstore.head(self._store, self._path))

    def range(self, start: int, end: int, stat: Stat | None) -> tuple[Any, Stat | None]:
        return self._get((start, end), stat)

    def _whole(self, known: Stat) -> Opened:
        try:
            return super()._whole(known)
        except Exception as error:
            if _is_outside(error):
                raise Replaced from None
            raise

    def _open(self, prefetch: int) -> Opened:
        if self._has_suffixes and prefetch > 0:
            try:
                first, last = both(False, lambda: self._get((0, HEAD)), lambda: self._get({"suffix": prefetch}))
            except Exception as error:
                if not self._is_unranged(error):
                    raise
            else:
                return _joined(first, last, prefetch)
        return self._open_in_turn(prefetch)

    def _open_in_turn(self, prefetch: int) -> Opened:
        """Read the beginning, whose reply has the size, and then the end."""
        try:
            head, stat = self._get((0, HEAD))
        except Exception as error:
            if not _is_outside(error):
                raise
            stat = self.stat()
            if stat.size:
                raise
            return Opened(stat, b"", b"")
        check(head, min(HEAD, stat.size))
        length = min(prefetch, stat.size)
        if stat.size <= HEAD:
            return Opened(stat, head, memoryview(head)[stat.size - length :])
        return Opened(stat, head, self.read(stat.size - length, length, stat) if length else b"")

    def _is_unranged(self, error: Exception) -> bool:
        """Whether a server refuses a range that counts from the end, or the object is empty."""
        return "NotSupportedError" in reply(error).kinds or _is_outside(error)

    def _get(self, range: Any, stat: Stat | None = None) -> tuple[Any, Stat]:
        self._count()
        _check_process()
        options: Any = {"range": range}
        if stat is not None and stat.identity.startswith('"'):
            # Weak ETags never match.
            options["if_match"] = stat.identity
        try:
            result = obstore.get(self._store, self._path, options=options)
        except obstore.exceptions.NotSupportedError as error:
            if isinstance(range, tuple) and "Range request not supported" in str(error):
                raise Ignored from None
            raise
        return result.bytes(), _stat(result.meta)


def _joined(first: tuple[Any, Stat], last: tuple[Any, Stat], prefetch: int) -> Opened:
    head, stat = first
    tail, of_tail = last
    if stat != of_tail:
        raise Replaced
    check(head, min(HEAD, stat.size))
    check(tail, min(prefetch, stat.size))
    return Opened(stat, head, tail)


def _is_outside(error: Exception) -> bool:
    """Whether a range has no byte of the object, as all ranges of an empty one."""
    of = reply(error)
    return of.status == 416 or "object was only 0 bytes" in of.text or "StartTooLarge" in of.text


def _stat(meta: Any) -> Stat:
    return Stat(meta["size"], _identity(meta))


def _identity(meta: Any) -> str:
    """The ETag, else the version, else the time of change, which is 1970 if the server sends none."""
    changed = meta["last_modified"]
    return meta["e_tag"] or meta["version"] or (changed.isoformat() if changed.timestamp() else "")


def _path(address: Address) -> str:
    """The path in the store. A store of a web address is for one object alone."""
    return "" if address.kind in ("http", "hf") else address.path


def _check_process() -> None:
    global _process
    if _process is None:
        _process = os.getpid()
    elif _process != os.getpid():
        raise FileError(
            "obstore was used before this process was forked, and can't be used in it: start processes by "
            "'spawn' or 'forkserver', as with DataLoader(multiprocessing_context='spawn')"
        )


def _seconds(size: int) -> int:
    """The seconds for an upload in one piece at 500 kB/s, in few different numbers."""
    seconds = _TIMEOUTS["timeout"]
    while seconds < size // 500_000:
        seconds *= 2
    return seconds


def _key(address: Address, settings: Settings, n_retries: int | None, seconds: int | None) -> Any:
    given = tuple(repr(sorted(of.items())) for of in (settings.config, settings.client, settings.retry))
    return (
        address.kind,
        address.bucket,
        address.account,
        given,
        id(settings.credentials),
        n_retries,
        seconds,
        environment(),
    )


def _built(address: Address, settings: Settings, n_retries: int | None, seconds: int | None) -> Any:
    """A new store.

    Raises
    ------
    ArgumentError
        An option is unknown or has a value that is not possible.
    """
    client = _client(address, settings)
    if seconds is not None and "read_timeout" not in settings.client:
        # It would also limit the time to send the content.
        del client["read_timeout"]
    if seconds is not None and "timeout" not in settings.client:
        client["timeout"] = timedelta(seconds=seconds)
    how: dict[str, Any] = {"client_options": client, "retry_config": _retry(settings, n_retries)}
    if address.kind in ("http", "hf"):
        return guarded(address, "read", lambda: stores.HTTPStore(web.url(address), **how))
    config = dict(settings.config)
    if address.account:
        config.setdefault("account_name", address.account)
    if settings.credentials is not None:
        how["credential_provider"] = partial(called, settings.credentials)
    elif address.kind == "s3":
        found = profiles.provider(config, config.pop("profile", None))
        if found is not None:
            how["credential_provider"], region = partial(called, found[0]), found[1]
            if region and not (os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")):
                config.setdefault("region", region)
    kind = {"s3": stores.S3Store, "gs": stores.GCSStore, "az": stores.AzureStore}[address.kind]
    try:
        return kind(address.bucket, config=config, **how)
    except Exception as error:
        message = _refusal(address, settings, error)
    raise ArgumentError(message)


def _refusal(address: Address, settings: Settings, error: Exception) -> str:
    """Why obstore did not take the options, without their values."""
    text = str(error)
    for name in (*settings.config, *settings.client):
        if f"'{name}'" in text or f"Invalid key: {name}" in text:
            return f"the storage option {name!r} is not known for {address.kind}:// addresses"
    names = ", ".join(sorted((*settings.config, *settings.client))) or "none"
    return f"{address}: a storage option has a value that the store does not take; options given: {names}"


def _client(address: Address, settings: Settings) -> dict[str, Any]:
    """The options of connections."""
    client: dict[str, Any] = dict(_TIMEOUTS)
    client.update(settings.client)
    for name in _TIMEOUTS:
        if isinstance(client[name], (int, float)):
            client[name] = timedelta(seconds=client[name])
    for name in ("allow_http", "allow_invalid_certificates", "http1_only", "http2_only"):
        if isinstance(client.get(name), str):
            client[name] = client[name].lower() in _YES
    endpoint = settings.config.get("endpoint") or settings.config.get("base_url")
    if address.kind == "s3" and not endpoint:
        found = (os.environ.get(name) for name in ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT"))
        endpoint = next(filter(None, found), "")
    if address.kind in ("http", "hf") or str(endpoint or "").startswith("http://"):
        client.setdefault("allow_http", True)
    if address.kind in ("http", "hf"):
        headers = web.headers(address, settings)
        if headers:
            client["default_headers"] = headers
    return client


def _retry(settings: Settings, n_retries: int | None) -> dict[str, Any]:
    seconds = settings.retry.get("retry_timeout", _RETRY_SECONDS)
    if isinstance(seconds, str):
        seconds = float(seconds)
    most = int(settings.retry.get("max_retries", _RETRIES)) if n_retries is None else n_retries
    pauses = {"init_backoff": timedelta(seconds=0.1), "max_backoff": timedelta(seconds=5), "base": 2}
    timeout = seconds if isinstance(seconds, timedelta) else timedelta(seconds=seconds)
    return {"max_retries": most, "retry_timeout": timeout, "backoff": pauses}

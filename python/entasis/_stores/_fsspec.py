"""Stores through fsspec and its file systems."""

from __future__ import annotations

import contextlib
import datetime
import json
import math
import os
import time
from typing import TYPE_CHECKING, Any

import fsspec

from entasis.errors import ArgumentError, FileError, MissingLibraryError

from . import web
from .failures import called
from .kept import Kept, environment
from .reader import Ignored, Reader, Stat
from .retry import retried
from .store import INSTALL, Entry, Store

if TYPE_CHECKING:
    from collections.abc import Callable

    from .address import Address
    from .content import Body
    from .options import Options, Settings

_PROTOCOLS = {"s3": "s3", "gs": "gs", "az": "abfs", "http": "http", "hf": "http", "memory": "memory"}
_YES = (True, "1", "true", "yes", "on")
# The options of the file systems, by the names of obstore.
_NAMES = {
    "s3": {
        "access_key_id": "key", "secret_access_key": "secret", "session_token": "token", "endpoint": "endpoint_url",
        "skip_signature": "anon", "request_payer": "requester_pays", "profile": "profile",
    },
    "gs": {"base_url": "endpoint_url", "bearer_token": "token", "application_credentials": "token",
           "service_account": "token", "service_account_key": "token"},
    "az": {"account_name": "account_name", "account_key": "account_key", "sas_key": "sas_token",
           "client_id": "client_id", "client_secret": "client_secret", "tenant_id": "tenant_id",
           "skip_signature": "anon"},
}  # fmt: skip
# The facts about an object that change with its content, by the names of the file systems.
_IDENTITIES = (
    "ETag", "etag", "e_tag", "VersionId", "version_id", "generation", "mtime", "LastModified", "last_modified",
    "Last-Modified", "updated", "modified", "created",
)  # fmt: skip
# The time of the last change, by the names of the file systems.
_TIMES = ("LastModified", "last_modified", "updated", "mtime", "modified", "created")

_kept = Kept()


class FsspecStore(Store):
    """A file system of fsspec for an address."""

    def __init__(self, address: Address, options: Options) -> None:
        self._settings = options.settings(address.kind)
        # Only this file system creates files without ever replacing others.
        self.can_create = address.kind == "memory"
        self._system = _built(address, self._settings)

    def reader(self, address: Address) -> Reader:
        return FsspecReader(self._system, _path(address))

    def put(self, address: Address, body: Body, size: int) -> None:
        if isinstance(body, memoryview):
            self._system.pipe_file(_path(address), bytes(body))
        else:
            self._system.put_file(str(body), _path(address))

    def create(self, address: Address, content: bytes) -> None:
        self._system.pipe_file(_path(address), content, mode="create")

    def entries(self, address: Address, prefix: str) -> list[Entry]:
        folder = _path(address).rstrip("/")
        within = "/".join(filter(None, [folder, prefix.rpartition("/")[0]]))
        self._system.invalidate_cache()
        try:
            infos = retried(lambda: self._system.find(within, detail=True))
        except FileNotFoundError:
            return []
        found = []
        for path, info in infos.items():
            relative = path.lstrip("/").removeprefix(folder.lstrip("/")).lstrip("/")
            # A folder itself can be an empty object.
            if relative and info.get("type") == "file" and relative.startswith(prefix):
                found.append(Entry(relative, info["size"], _identity(info), _modified(info)))
        return sorted(found)

    def delete(self, address: Address) -> None:
        with contextlib.suppress(FileNotFoundError):
            self._system.rm_file(_path(address))


class FsspecReader(Reader):
    """A file of a file system of fsspec."""

    def __init__(self, system: Any, path: str) -> None:
        super().__init__()
        self._system, self._path = system, path
        protocol = system.protocol
        self._is_web = "http" in ([protocol] if isinstance(protocol, str) else protocol)

    def stat(self) -> Stat:
        return retried(self._ask)

    def range(self, start: int, end: int, stat: Stat | None) -> tuple[Any, Stat | None]:
        read = self._read_web if self._is_web else self._read
        return retried(read, start, end, stat), None

    def _ask(self) -> Stat:
        self._count()
        # A listing that is kept has the facts of an earlier object.
        self._system.invalidate_cache()
        info = self._system.info(self._path)
        if info.get("type") == "directory":
            raise FileNotFoundError
        if info.get("size") is None:
            raise FileError("the server does not report the size of the object; download it, and open the file")
        return Stat(info["size"], _identity(info))

    def _read(self, start: int, end: int, stat: Stat | None) -> Any:
        self._count()
        return self._system.cat_file(self._path, start=start, end=end)

    def _read_web(self, start: int, end: int, stat: Stat | None) -> Any:
        """Read from a server that may send everything, which `cat_file` would wait for."""
        assert stat is not None, "the size is asked for first"
        self._count()
        how: dict[str, Any] = {"size": stat.size, "block_size": end - start, "cache_type": "none"}
        if stat.identity.startswith('"'):
            how["headers"] = {"If-Match": stat.identity}
        with self._system.open(self._path, "rb", **how) as file:
            file.seek(start)
            try:
                return file.read(end - start)
            except ValueError:
                raise Ignored from None


def _identity(info: dict[str, Any]) -> str:
    for name in _IDENTITIES:
        value = info.get(name)
        if value not in (None, ""):
            return str(value)
    return ""


def _modified(info: dict[str, Any]) -> float:
    """When an object was written, in seconds since 1970; infinite if that is unknown."""
    found = next((info[name] for name in _TIMES if info.get(name) is not None), None)
    if isinstance(found, str):
        with contextlib.suppress(ValueError):
            found = datetime.datetime.fromisoformat(found)
    if isinstance(found, datetime.datetime):
        return found.timestamp()
    return float(found) if isinstance(found, (int, float)) else math.inf


def _path(address: Address) -> str:
    if address.kind in ("http", "hf"):
        return web.url(address)
    return f"{address.bucket}/{address.path}"


def _built(address: Address, settings: Settings) -> Any:
    protocol = _PROTOCOLS[address.kind]
    try:
        fsspec.get_filesystem_class(protocol)
    except ImportError:
        message = f"{address.kind}:// addresses need obstore, which is not installed: {INSTALL}"
        raise MissingLibraryError(message) from None
    options: dict[str, Any] = {}
    if address.kind in ("http", "hf"):
        found = web.headers(address, settings)
        options["client_kwargs"] = {"headers": found} if found else {}
        # The path of an address is encoded already.
        options["encoded"] = True
    elif address.kind in _NAMES:
        options = _named(address, settings)
    if address.kind != "memory":
        options["use_listings_cache"] = False
    try:
        return _shared(protocol, options)
    except (KeyError, TypeError, ValueError):
        names = ", ".join(sorted((*settings.config, *settings.client))) or "none"
    raise ArgumentError(f"{address}: fsspec does not take the storage options; options given: {names}")


def _shared(protocol: str, options: dict[str, Any]) -> Any:
    """A file system of this process that may be kept from an earlier call.

    The cache of fsspec does not look at the environment. Files with credentials can change too, so
    no file system is kept for more than a minute.
    """
    if protocol == "memory":
        return fsspec.filesystem(protocol)
    made_of = (protocol, repr(options), environment(), os.getpid(), int(time.monotonic() // 60))
    return _kept.get(made_of, lambda: fsspec.filesystem(protocol, skip_instance_cache=True, **options))


def _named(address: Address, settings: Settings) -> dict[str, Any]:
    """Options as the file system names them."""
    config = dict(settings.config)
    if address.account:
        config.setdefault("account_name", address.account)
    if settings.credentials is not None:
        config.update(_credentials(address.kind, settings.credentials))
    options: dict[str, Any] = {}
    client: dict[str, Any] = {}
    known = _NAMES[address.kind]
    for name, value in config.items():
        if address.kind == "s3" and name == "region":
            client["region_name"] = value
        elif address.kind == "gs" and name == "skip_signature":
            options["token"] = "anon"
        elif name in ("skip_signature", "request_payer"):
            options[known[name]] = value in _YES or value == "requester"
        elif name == "service_account_key":
            options["token"] = json.loads(value)
        elif name in known:
            options[known[name]] = value
        else:
            raise ArgumentError(f"the storage option {name!r} needs obstore: {INSTALL}")
    if client:
        options["client_kwargs"] = client
    if address.kind == "s3":
        timeouts = {
            name: settings.client[name] for name in ("connect_timeout", "read_timeout") if name in settings.client
        }
        # Retries of botocore; these of this package come in addition.
        options["config_kwargs"] = {"retries": {"max_attempts": 2}, **timeouts}
    return options


def _credentials(kind: str, credentials: Callable[[], Any]) -> dict[str, Any]:
    """Credentials that a function returns, as options by obstore's names."""
    found = called(credentials)
    names = {
        "s3": {"access_key_id": "access_key_id", "secret_access_key": "secret_access_key", "token": "session_token"},
        "gs": {"token": "bearer_token"},
        "az": {"access_key": "account_key", "sas_token": "sas_key"},
    }[kind]
    return {names[name]: value for name, value in found.items() if name in names and value is not None}

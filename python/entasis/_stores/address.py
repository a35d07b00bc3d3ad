"""Addresses of objects and folders on stores, and the form that messages show."""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, unquote, urlsplit

from entasis.errors import ArgumentError

from .scheme import scheme

# The names of a kind of store, by the name that this package uses.
_SCHEMES = {
    "s3": "s3", "s3a": "s3", "gs": "gs", "gcs": "gs", "az": "az", "azure": "az", "adl": "az", "abfs": "az",
    "abfss": "az", "http": "http", "https": "http", "hf": "hf", "memory": "memory",
}  # fmt: skip
# Revisions of Hugging Face that have slashes and may be written without percent-encoding.
_REFERENCE = re.compile(r"refs/(?:convert/\w+|pr/\d+)(?=/|$)")


@dataclass(frozen=True, slots=True)
class Address:
    """The address of an object or a folder.

    Attributes
    ----------
    kind
        The kind of store: `s3`, `gs`, `az`, `http`, `hf` or `memory`.
    bucket
        The bucket or container; the host of a web address; user and repository of Hugging Face.
    path
        The key, without a leading slash, as the store has it. Web addresses keep their encoding.
    account
        The account of an Azure address that names it; else empty.
    revision
        The branch, tag or commit of Hugging Face; else empty.
    shown
        The address for messages. It has no user, no password and no query string.
    base
        The address without its path. Web addresses keep their query string here and in `query`.
    query
        The query string of a web address, which may hold a signature.
    authorization
        The header for the user and the password of a web address; else empty.
    """

    kind: str
    bucket: str
    path: str
    shown: str
    account: str = ""
    revision: str = ""
    base: str = ""
    query: str = field(default="", repr=False)
    authorization: str = field(default="", repr=False)

    def __str__(self) -> str:
        return self.shown

    def __repr__(self) -> str:
        return f"Address({self.shown!r})"

    def __reduce__(self) -> Any:
        if self.has_secret:
            raise ArgumentError(f"{self.shown} is not pickled, as it can have a secret: parse it in each process")
        return parse, (self.plain, True)

    @property
    def has_secret(self) -> bool:
        """Whether the address has a part that may be a secret, such as a signature."""
        return bool(self.query or self.authorization)

    @property
    def plain(self) -> str:
        """The address as text that `parse` takes. Only for addresses without a secret."""
        if self.kind == "hf":
            revision = f"@{quote(self.revision, safe='')}" if self.revision != "main" else ""
            return f"hf://datasets/{self.bucket}{revision}/{self.path}"
        return f"{self.base}/{self.path}"

    def url(self, endpoint: str = "https://huggingface.co") -> str:
        """The complete address on the web, with its query string.

        Parameters
        ----------
        endpoint
            The server of addresses on Hugging Face.
        """
        if self.kind == "hf":
            revision = quote(self.revision, safe="")
            return f"{endpoint.rstrip('/')}/datasets/{self.bucket}/resolve/{revision}/{quote(self.path)}"
        return f"{self.base}/{self.path}" + (f"?{self.query}" if self.query else "")

    def join(self, relative: str) -> Address:
        """The address of an object in this folder.

        Raises
        ------
        ArgumentError
            The relative path is empty, or has an empty part, `.` or `..`.
        """
        if any(part in ("", ".", "..") for part in relative.split("/")) or "\0" in relative:
            raise ArgumentError(f"{relative!r} is not a path within {self.shown}")
        name = quote(relative) if self.kind == "http" else relative
        folder = self.path.rstrip("/")
        path = f"{folder}/{name}" if folder else name
        shown = f"{self.shown.removesuffix('?...').rstrip('/')}/{name}{'?...' if self.query else ''}"
        return Address(
            self.kind, self.bucket, path, shown, self.account, self.revision, self.base, self.query, self.authorization
        )


def parse(text: str, is_folder: bool = False) -> Address:
    """Take an address apart.

    Parameters
    ----------
    text
        The address, for example `s3://bucket/frame.entasis`.
    is_folder
        Whether the path can be empty.

    Raises
    ------
    ArgumentError
        The scheme is unknown, or the bucket or the path is missing.
    """
    name = scheme(text)
    if name is None:
        raise ArgumentError(f"{_cut(text)!r} is not an address")
    kind = _SCHEMES.get(name)
    if kind is None:
        raise ArgumentError(_unknown(name, text))
    rest = text[len(name) + len("://") :]
    if kind == "http":
        found = _web(name, text)
    elif kind == "hf":
        found = _hugging_face(rest)
    else:
        found = _bucket(kind, name, rest)
    if not is_folder and not found.path.strip("/") and not found.query:
        raise ArgumentError(f"{found.shown} names no object: add its path, as in {name}://bucket/frame.entasis")
    if not is_folder and found.path.endswith("/"):
        raise ArgumentError(f"{found.shown} is a folder: add the name of an object")
    return found


def _unknown(name: str, text: str) -> str:
    if name == "file":
        return f"{_cut(text)!r} is an address of this machine; pass the path alone"
    return (
        f"addresses that begin with {name}:// are not known; known are s3, gs, az, abfs, http, https and hf; "
        "open others with fsspec and pass the open file"
    )


def _bucket(kind: str, name: str, rest: str) -> Address:
    """An address of a bucket and a key."""
    bucket, _, path = rest.partition("/")
    account = ""
    base = f"{name}://{bucket}"
    if "@" in bucket:
        user, _, host = bucket.rpartition("@")
        if kind != "az" or ":" in user or "@" in user:
            raise ArgumentError(f"the address {name}://... has a user or a password; pass these as storage_options")
        bucket, account = user, host.partition(".")[0]
    if not bucket and kind != "memory":
        raise ArgumentError(f"{name}:// names no bucket: write {name}://bucket/frame.entasis")
    return Address(kind, bucket, path, _without_query(f"{base}/{path}"), account, "", base)


def _hugging_face(rest: str) -> Address:
    """An address on Hugging Face, whose revision is percent-encoded if it has a slash."""
    of, _, rest = rest.partition("/")
    user, _, rest = rest.partition("/")
    repository, at, revision, path = rest, "", "main", ""
    before, slash, after = rest.partition("/")
    if "@" in before:
        repository, at, tail = rest.partition("@")
        reference = _REFERENCE.match(tail)
        if reference is not None:
            revision, path = reference[0], tail[reference.end() :].lstrip("/")
        else:
            revision, _, path = tail.partition("/")
            revision = unquote(revision)
    elif slash:
        repository, path = before, after
    if of != "datasets" or not user or not repository or (at and not revision):
        raise ArgumentError("addresses on Hugging Face are hf://datasets/user/repository[@revision]/path")
    shown = f"hf://datasets/{user}/{repository}{at}{revision if at else ''}/{path}"
    return Address("hf", f"{user}/{repository}", path, _without_query(shown), "", revision)


def _web(name: str, text: str) -> Address:
    """A web address. A user and a password become a header, which redirects do not get."""
    try:
        parts = urlsplit(text)
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    if not host:
        raise ArgumentError(f"an address that begins with {name}:// has no valid host")
    authorization = ""
    if parts.username is not None:
        user = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        authorization = f"Basic {base64.b64encode(user.encode()).decode()}"
    place = (f"[{host}]" if ":" in host else host) + (f":{port}" if port is not None else "")
    base, path = f"{name}://{place}", parts.path.removeprefix("/")
    shown = f"{base}/{path}" + ("?..." if parts.query else "")
    return Address("http", place, path, shown, "", "", base, parts.query, authorization)


def _without_query(text: str) -> str:
    before, mark, _ = text.partition("?")
    return f"{before}?..." if mark else text


def _cut(text: str) -> str:
    """A text that is not a known address, without the parts that can be secrets."""
    return _without_query(re.sub(r"://[^/@]*@", "://", text))[:200]

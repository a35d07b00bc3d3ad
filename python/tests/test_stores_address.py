"""Addresses of objects: their parts, and the form without secrets."""

from __future__ import annotations

import pickle

import pytest

from entasis._arguments.sources import is_address
from entasis._stores.address import Address, parse
from entasis.errors import ArgumentError

PARTS = [
    ("s3://bucket/a/b.entasis", "s3", "bucket", "a/b.entasis", ""),
    ("S3A://bucket/a%20b c", "s3", "bucket", "a%20b c", ""),
    ("gs://bucket/x", "gs", "bucket", "x", ""),
    ("gcs://bucket/x", "gs", "bucket", "x", ""),
    ("az://container/x", "az", "container", "x", ""),
    ("abfs://container@name.dfs.core.windows.net/a/b", "az", "container", "a/b", "name"),
    ("abfss://container@name.dfs.core.windows.net/a/b", "az", "container", "a/b", "name"),
    ("adl://container/x", "az", "container", "x", ""),
    ("memory://a/b", "memory", "a", "b", ""),
    ("https://host.example:8443/a%2Fb/c", "http", "host.example:8443", "a%2Fb/c", ""),
    ("http://[::1]:80/x", "http", "[::1]:80", "x", ""),
    ("hf://datasets/user/repo/data/x", "hf", "user/repo", "data/x", ""),
]


@pytest.mark.parametrize(("text", "kind", "bucket", "path", "account"), PARTS)
def test_parts(text: str, kind: str, bucket: str, path: str, account: str) -> None:
    found = parse(text)
    assert (found.kind, found.bucket, found.path, found.account) == (kind, bucket, path, account)
    assert is_address(text)
    assert not found.has_secret
    assert parse(found.plain) == found
    assert pickle.loads(pickle.dumps(found)) == found


@pytest.mark.parametrize(
    ("text", "revision", "url"),
    [
        ("hf://datasets/u/r/a b.entasis", "main", "https://h/datasets/u/r/resolve/main/a%20b.entasis"),
        ("hf://datasets/u/r@v1/x", "v1", "https://h/datasets/u/r/resolve/v1/x"),
        ("hf://datasets/u/r@refs%2Fpr%2F3/x", "refs/pr/3", "https://h/datasets/u/r/resolve/refs%2Fpr%2F3/x"),
        ("hf://datasets/u/r@refs/convert/parquet/a/x", "refs/convert/parquet",
         "https://h/datasets/u/r/resolve/refs%2Fconvert%2Fparquet/a/x"),
        ("hf://datasets/u/r/a@b/x", "main", "https://h/datasets/u/r/resolve/main/a%40b/x"),
    ],
)  # fmt: skip
def test_hugging_face(text: str, revision: str, url: str) -> None:
    found = parse(text)
    assert (found.revision, found.url("https://h/")) == (revision, url)
    assert parse(found.plain) == found


def test_secrets_are_not_shown() -> None:
    found = parse("https://user:pass%40word@host/a/b.entasis?X-Amz-Signature=signed#part")
    assert found.shown == str(found) == "https://host/a/b.entasis?..."
    assert repr(found) == "Address('https://host/a/b.entasis?...')"
    assert found.url() == "https://host/a/b.entasis?X-Amz-Signature=signed"
    assert found.authorization == "Basic dXNlcjpwYXNzQHdvcmQ="
    assert found.has_secret
    with pytest.raises(ArgumentError, match=r"https://host/a/b.entasis\?... is not pickled"):
        pickle.dumps(found)
    assert parse("s3://bucket/a?versionId=1").shown == "s3://bucket/a?..."


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ftp://user:secret@host/x?secret", "addresses that begin with ftp:// are not known"),
        ("file:///a/b", "'file:///a/b' is an address of this machine; pass the path alone"),
        ("file://user:secret@host/x?secret", "'file://host/x?...' is an address of this machine"),
        ("s3://key:secret@bucket/x", "has a user or a password; pass these as storage_options"),
        ("abfs://name:secret@host/x", "has a user or a password"),
        ("s3:///x", "names no bucket: write s3://bucket/frame.entasis"),
        ("s3://bucket", "names no object"),
        ("s3://bucket/", "names no object"),
        ("s3://bucket/folder/", "is a folder: add the name of an object"),
        ("https://", "has no valid host"),
        ("https://host:port/x?secret", "has no valid host"),
        ("hf://datasets/repo", "hf://datasets/user/repository"),
        ("hf://spaces/user/repo/x", "hf://datasets/user/repository"),
        ("hf://datasets/user/repo@/x", "hf://datasets/user/repository"),
        ("no address?secret", "is not an address"),
    ],
)
def test_refused(text: str, message: str) -> None:
    with pytest.raises(ArgumentError) as error:
        parse(text)
    assert message in str(error.value)
    assert "secret" not in str(error.value)
    assert error.value.__cause__ is None


def test_paths_are_no_addresses() -> None:
    for text in ("a/b", "/a://b", "C://x", "simplecache::s3://b/x", ""):
        assert not is_address(text)
    assert not is_address("file:///x")
    assert is_address("unknown+x.y-z://")
    assert is_address("S3://bucket/x")


def test_join() -> None:
    folder = parse("s3://bucket/table/", is_folder=True)
    assert folder.join("a/b c").path == "table/a/b c"
    assert folder.join("a").shown == "s3://bucket/table/a"
    assert parse("s3://bucket", is_folder=True).join("a").shown == "s3://bucket/a"
    web = parse("https://host/table?sig=1", is_folder=True).join("a b")
    assert (web.url(), web.shown) == ("https://host/table/a%20b?sig=1", "https://host/table/a%20b?...")
    for path in ("", "/a", "a//b", "a/../b", ".", "a/", "a\0"):
        with pytest.raises(ArgumentError, match="is not a path within s3://bucket/table/"):
            folder.join(path)


def test_address_of_objects() -> None:
    assert str(Address("object", "", "", "MemoryStore/x")) == "MemoryStore/x"

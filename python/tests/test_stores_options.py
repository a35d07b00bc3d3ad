"""Options of stores: their names, and that no value is shown or pickled."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from entasis._stores.options import Options
from entasis.errors import ArgumentError


def credentials() -> dict[str, Any]:
    return {"access_key_id": "key", "secret_access_key": "secret", "expires_at": None}


class WithState:
    def __call__(self) -> dict[str, Any]:
        return credentials()

    def method(self) -> dict[str, Any]:
        return credentials()


S3 = {"access_key_id": "K", "secret_access_key": "S", "session_token": "T", "endpoint": "E", "region": "R"}


@pytest.mark.parametrize(
    ("kind", "values", "config"),
    [
        ("s3", {f"aws_{name}": value for name, value in S3.items()}, S3),
        ("s3", {f"AWS_{name.upper()}": value for name, value in S3.items()}, S3),
        ("s3", {"key": "K", "secret": "S", "token": "T", "endpoint_url": "E",
                "client_kwargs": {"region_name": "R"}}, S3),
        ("s3", {"access_key": "K", "secret_key": "S", "session_token": "T", "endpoint_override": "E",
                "aws_default_region": "R", "use_ssl": False, "scheme": None}, S3),
        ("s3", {"anon": True}, {"skip_signature": True}),
        ("s3", {"aws_skip_signature": "TRUE"}, {"skip_signature": True}),
        ("gs", {"token": "anon"}, {"skip_signature": True}),
        ("gs", {"token": "a/b.json"}, {"application_credentials": "a/b.json"}),
        ("gs", {"token": {"a": 1}}, {"service_account_key": '{"a": 1}'}),
        ("gs", {"token": "bearer"}, {"bearer_token": "bearer"}),
        ("gs", {"google_service_account_path": "p"}, {"service_account": "p"}),
        ("az", {"azure_storage_account_name": "n", "azure_storage_account_key": "k"},
         {"account_name": "n", "account_key": "k"}),
        ("az", {"sas_token": "s", "account": "n"}, {"sas_key": "s", "account_name": "n"}),
        ("az", {"connection_string": "AccountName=n;AccountKey=k==;EndpointSuffix=x"},
         {"account_name": "n", "account_key": "k=="}),
        ("hf", {"hf_token": "t"}, {"token": "t"}),
        ("http", {"client_kwargs": {"headers": {"a": "b"}}}, {"headers": {"a": "b"}}),
    ],
)  # fmt: skip
def test_names(kind: str, values: dict[str, Any], config: dict[str, Any]) -> None:
    assert Options(values).settings(kind).config == config


def test_groups() -> None:
    options = Options({"aws_allow_http": True, "timeout": 3, "client_options": {"user_agent": "me"},
                       "retry_config": {"max_retries": 2}, "region": "R"})  # fmt: skip
    settings = options.settings("s3")
    assert settings.config == {"region": "R"}
    assert settings.client == {"allow_http": True, "timeout": 3, "user_agent": "me"}
    assert settings.retry == {"max_retries": 2}


def test_values_are_not_shown() -> None:
    options = Options({"key": "hidden", "secret": "hidden"}, credentials)
    assert repr(options) == "Options(key, secret, credentials)"
    with pytest.raises(ArgumentError) as error:
        Options({"key": "hidden", "aws_access_key_id": "hidden too"}).settings("s3")
    assert str(error.value) == "the options 'key' and 'aws_access_key_id' have different values; pass one"
    assert Options({"key": "same", "aws_access_key_id": "same"}).settings("s3").config == {"access_key_id": "same"}


@pytest.mark.parametrize("values", ["text", 3, {1: "x"}])
def test_bad_options(values: Any) -> None:
    with pytest.raises(ArgumentError, match="storage_options"):
        Options(values)
    with pytest.raises(ArgumentError, match="the storage option 'region' is list; pass text"):
        Options({"region": ["hidden"]})
    with pytest.raises(ArgumentError, match="credentials is a function"):
        Options({"credentials": "x"})


def test_pickles_have_names(monkeypatch: pytest.MonkeyPatch) -> None:
    pickled = pickle.dumps(Options({"aws_secret_access_key": "hidden", "endpoint_url": "hidden", "timeout": 4}))
    assert b"hidden" not in pickled
    options = pickle.loads(pickled)
    assert repr(options) == "Options(aws_secret_access_key, endpoint_url, timeout)"
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY", raising=False)
    monkeypatch.setenv("AWS_ENDPOINT_URL", "E")
    with pytest.raises(ArgumentError) as error:
        options.settings("s3")
    assert "the option 'aws_secret_access_key' was not pickled" in str(error.value)
    assert "set AWS_SECRET_ACCESS_KEY, or pass credentials=" in str(error.value)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "S")
    settings = options.settings("s3")
    assert settings.config == {"secret_access_key": "S", "endpoint": "E"}
    assert settings.client == {}
    # Unpickled options can be pickled again.
    assert pickle.loads(pickle.dumps(options)).settings("s3") == settings


def test_functions_are_pickled_by_reference() -> None:
    options = pickle.loads(pickle.dumps(Options({"credentials": credentials})))
    assert options.settings("s3").credentials is credentials
    for function in (lambda: {}, WithState(), WithState().method):
        with pytest.raises(ArgumentError, match="define it as a function of a module"):
            pickle.dumps(Options(credentials=function))

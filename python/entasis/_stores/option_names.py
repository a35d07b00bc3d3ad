"""The names of storage options: those of obstore, and how others call the same options."""

from __future__ import annotations

# Beginnings of names that say for which store an option is.
PREFIXES = {"s3": ("aws_",), "gs": ("google_",), "az": ("azure_storage_", "azure_"), "http": ("hf_",)}

# Other names of an option, by store: short ones, those of fsspec's file systems, and of pyarrow.
ALIASES = {
    "s3": {
        "access_key": "access_key_id",
        "anon": "skip_signature",
        "anonymous": "skip_signature",
        "default_region": "region",
        "endpoint_override": "endpoint",
        "endpoint_url": "endpoint",
        "endpoint_url_s3": "endpoint",
        "key": "access_key_id",
        "profile_name": "profile",
        "region_name": "region",
        "requester_pays": "request_payer",
        "secret": "secret_access_key",
        "secret_key": "secret_access_key",
        "token": "session_token",
    },
    "gs": {
        "anon": "skip_signature",
        "endpoint_url": "base_url",
        "service_account_path": "service_account",
    },
    "az": {
        "access_key": "account_key",
        "account": "account_name",
        "anon": "skip_signature",
        "endpoint_url": "endpoint",
        "sas_token": "sas_key",
    },
    "http": {"bearer_token": "token", "default_headers": "headers"},
}

# Options of the connection. They hold no credentials, and unpickled options do without them.
CLIENT = frozenset({
    "allow_http", "allow_invalid_certificates", "connect_timeout", "http1_only", "http2_only", "pool_idle_timeout",
    "pool_max_idle_per_host", "read_timeout", "root_certificate", "timeout", "user_agent", "proxy_ca_certificate",
    "proxy_excludes",
})  # fmt: skip
# Like these, but with values that can be secrets.
CLIENT_SECRET = frozenset({"proxy_url", "default_headers"})
RETRY = frozenset({"max_retries", "retry_timeout"})
# Options whose values are options themselves, as obstore and fsspec take them.
NESTED = frozenset({"client_options", "client_kwargs", "config", "config_kwargs", "retry_config"})

# Environment variables of an option that are not its prefix and its name.
_VARIABLES = {
    ("s3", "endpoint"): ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT"),
    ("s3", "region"): ("AWS_REGION", "AWS_DEFAULT_REGION"),
    ("s3", "session_token"): ("AWS_SESSION_TOKEN", "AWS_TOKEN"),
    ("gs", "service_account"): ("GOOGLE_SERVICE_ACCOUNT", "GOOGLE_SERVICE_ACCOUNT_PATH"),
    ("az", "account_key"): ("AZURE_STORAGE_ACCOUNT_KEY", "AZURE_STORAGE_ACCESS_KEY", "AZURE_STORAGE_MASTER_KEY"),
    ("az", "sas_key"): ("AZURE_STORAGE_SAS_KEY", "AZURE_STORAGE_SAS_TOKEN"),
    ("http", "token"): ("HF_TOKEN",),
}


def canonical(kind: str, name: str) -> str:
    """The name that obstore uses for an option of a kind of store."""
    name = name.lower()
    for prefix in PREFIXES.get(kind, ()):
        if name.startswith(prefix):
            name = name.removeprefix(prefix)
            break
    return ALIASES.get(kind, {}).get(name, name)


def variables(kind: str, name: str) -> tuple[str, ...]:
    """The environment variables of an option, by its name in obstore."""
    special = _VARIABLES.get((kind, name))
    if special is not None:
        return special
    return tuple(f"{prefix}{name}".upper() for prefix in PREFIXES.get(kind, ()) if prefix != "hf_")


def is_optional(name: str) -> bool:
    """Whether unpickled options do without an option that the environment lacks."""
    return name in CLIENT or name in RETRY

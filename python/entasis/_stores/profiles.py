"""Credentials of the files of the AWS command, which obstore does not read itself."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from entasis.errors import ArgumentError, MissingLibraryError

if TYPE_CHECKING:
    from collections.abc import Callable

# Options and environment variables that name other credentials, which obstore reads.
_OPTIONS = frozenset({"access_key_id", "skip_signature", "web_identity_token_file"})
_VARIABLES = (
    "AWS_ACCESS_KEY_ID", "AWS_CONTAINER_CREDENTIALS_FULL_URI", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_SKIP_SIGNATURE", "AWS_WEB_IDENTITY_TOKEN_FILE",
)  # fmt: skip
_FILES = (("AWS_SHARED_CREDENTIALS_FILE", "~/.aws/credentials"), ("AWS_CONFIG_FILE", "~/.aws/config"))


def provider(config: dict[str, Any], profile: str | None) -> tuple[Callable[[], Any], str | None] | None:
    """A function that returns the credentials of a profile, and the region of that.

    Parameters
    ----------
    config
        The options of the store. Options with credentials come before those of files.
    profile
        The name of the profile; None is that of the environment, if files have one.

    Returns
    -------
    function, region
        None if these files do not exist, other credentials were given, or boto3 is not installed.

    Raises
    ------
    ArgumentError
        The named profile does not exist.
    MissingLibraryError
        A profile is named, and boto3 is not installed.
    """
    if profile is None and not _has_files(config):
        return None
    try:
        import boto3
        from botocore.exceptions import BotoCoreError
        from obstore.auth.boto3 import Boto3CredentialProvider
    except ImportError:
        if profile is None:
            return None
        raise MissingLibraryError("profiles of AWS are read with boto3: pip install boto3") from None
    try:
        session = boto3.Session(profile_name=profile)
        found = Boto3CredentialProvider(session)
    except (BotoCoreError, ValueError):
        if profile is None and not os.environ.get("AWS_PROFILE"):
            return None
        name = profile or os.environ["AWS_PROFILE"]
    else:
        return found, session.region_name
    raise ArgumentError(f"the profile {name!r} of AWS does not exist or has no credentials")


def _has_files(config: dict[str, Any]) -> bool:
    """Whether the files decide about credentials."""
    if not _OPTIONS.isdisjoint(config) or any(os.environ.get(name) for name in _VARIABLES):
        return False
    paths = (os.path.expanduser(os.environ.get(name) or path) for name, path in _FILES)
    return bool(os.environ.get("AWS_PROFILE")) or any(os.path.exists(path) for path in paths)

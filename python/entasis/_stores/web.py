"""Addresses and headers of requests on the web and to Hugging Face."""

from __future__ import annotations

import base64
import os
from typing import TYPE_CHECKING

from entasis.errors import ArgumentError

from .failures import called

if TYPE_CHECKING:
    from .address import Address
    from .options import Settings

_OPTIONS = frozenset({"headers", "password", "token", "username"})
# Headers with secrets that libraries take away when another server is asked after a redirect, and
# headers without secrets.
_HEADERS = frozenset({"accept", "accept-language", "authorization", "cookie", "referer", "user-agent"})


def url(address: Address) -> str:
    """The complete address, with its query string.

    Where a server redirects, obstore reports the address with its query string as `Referer` to the
    next server, and has no option against it. Servers do not redirect signed addresses usually.
    """
    return address.url(os.environ.get("HF_ENDPOINT") or "https://huggingface.co")


def headers(address: Address, settings: Settings) -> dict[str, str]:
    """The headers of requests. Redirects to other servers do not get the credentials.

    Raises
    ------
    ArgumentError
        An option is unknown, or a redirect would send a header to another server.
    """
    for name in settings.config:
        if name not in _OPTIONS:
            raise ArgumentError(f"the storage option {name!r} is not known for web addresses")
    given = {**settings.config.get("headers", {}), **settings.client.get("default_headers", {})}
    found = {str(name).lower(): str(value) for name, value in given.items()}
    for name in found:
        if name not in _HEADERS:
            raise ArgumentError(f"the header {name!r} would follow redirects to other servers; use 'authorization'")
    if "authorization" not in found and (value := _authorization(address, settings)):
        found["authorization"] = value
    return found


def _authorization(address: Address, settings: Settings) -> str:
    token = settings.config.get("token")
    if settings.credentials is not None:
        found = called(settings.credentials)
        token = found.get("token") if isinstance(found, dict) else found
    if token is None and address.kind == "hf":
        token = os.environ.get("HF_TOKEN") or None
    if token is not None:
        return f"Bearer {token}"
    if "username" in settings.config:
        user = f"{settings.config['username']}:{settings.config.get('password', '')}"
        return f"Basic {base64.b64encode(user.encode()).decode()}"
    return address.authorization

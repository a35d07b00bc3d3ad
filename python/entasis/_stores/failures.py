"""Errors of stores as errors of this package, without the texts of others.

The texts of libraries can have complete addresses, with signatures, and headers. So messages here
are made from the kind of the error, the status and the code of the reply alone.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar

from entasis.errors import (
    ArgumentError,
    EntasisError,
    ExistingFileError,
    FileError,
    FilePermissionError,
    MissingFileError,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from .address import Address

    Action = Literal["read", "write", "list", "delete"]

_Result = TypeVar("_Result")

_STATUS = re.compile(r"\bstatus(?: code)?: (\d{3})\b")
# The code of an S3 reply, which is a word.
_CODE = re.compile(r"<Code>(\w{1,60})</Code>")
# Servers that give credentials to machines in a cloud. They are asked if no others are found.
_OF_MACHINE = (
    "169.254.169.254",
    "169.254.170.",
    "/latest/api/token",
    "/latest/meta-data",
    "metadata.google.internal",
    "metadata/identity",
)
# obstore's text for a redirect that names no place, as S3 answers for buckets of other regions.
_NO_LOCATION = "redirect without LOCATION"
# The text of errors of `called`.
_FUNCTION = re.compile(r"credentials raised \w{1,60}")
_CONNECTIONS = frozenset({
    "ClientConnectionError", "ClientPayloadError", "ConnectionError", "EndpointConnectionError", "HTTPClientError",
    "IncompleteRead", "IncompleteReadError", "ResponseStreamingError", "ServerDisconnectedError",
})  # fmt: skip
_NO_CREDENTIALS = frozenset({
    "CredentialRetrievalError", "DefaultCredentialsError", "NoCredentialsError", "PartialCredentialsError",
    "TokenRetrievalError", "UnauthorizedSSOTokenError",
})  # fmt: skip
_REFUSED = frozenset({
    "AccessDenied", "AllAccessDisabled", "ExpiredToken", "InvalidAccessKeyId", "InvalidToken", "RequestTimeTooSkewed",
    "SignatureDoesNotMatch",
})  # fmt: skip
_OTHER_REGION = frozenset({
    "AuthorizationHeaderMalformed", "IllegalLocationConstraintException", "PermanentRedirect", "Redirect",
})  # fmt: skip
_LIMITED = frozenset({429, 500, 502, 503, 504})


class Reply(NamedTuple):
    """The facts about a failed request.

    Attributes
    ----------
    status
        The HTTP status; None if there was no reply.
    code
        The word that S3 gives for the error; else empty.
    kinds
        The names of the classes of the error and of its causes.
    text
        The text of the error. It can have secrets and never becomes part of a message.
    """

    status: int | None
    code: str
    kinds: frozenset[str]
    text: str


def replaced(address: Address) -> FileError:
    """The error for an object that is not the one that was opened."""
    return _located(FileError(f"{address}: the file was replaced while it was open: open it again"), address)


def guarded(address: Address, action: Action, function: Callable[..., _Result], *args: Any) -> _Result:
    """Call a function, and raise its errors as errors of this package.

    These have neither a cause nor a context, as both could have secrets.
    """
    try:
        return function(*args)
    except (EntasisError, MemoryError):
        raise
    except Exception as error:
        found = failure(error, address, action)
    raise found


def called(credentials: Callable[[], Any]) -> Any:
    """Call a function of credentials. Its errors get another text, as libraries repeat the text."""
    try:
        return credentials()
    except Exception as error:
        kind = type(error).__name__
    raise RuntimeError(f"credentials raised {kind}")


def failure(error: BaseException, address: Address, action: Action) -> EntasisError:
    """The error of this package for an error of a library."""
    return _located(_failure(reply(error), address, action), address)


def is_transient(error: BaseException) -> bool:
    """Whether a request that failed can succeed when it is sent again."""
    of = reply(error)
    if of.status is not None:
        return of.status in _LIMITED
    return of.code == "SlowDown" or _is_late(of) or _is_failed_connection(of)


def reply(error: BaseException) -> Reply:
    """The facts about a failed request, from its error and the causes of that."""
    status, code, text = None, "", ""
    kinds: set[str] = set()
    following: BaseException | None = error
    for _ in range(10):
        if following is None:
            break
        kinds |= {kind.__name__ for kind in type(following).__mro__}
        text = f"{text}\n{following}"
        status = status if status is not None else _status(following)
        code = code or _code(following)
        following = following.__cause__ or (None if following.__suppress_context__ else following.__context__)
    if status is None and (found := _STATUS.search(text)):
        status = int(found[1])
    if not code and (word := _CODE.search(text)):
        code = word[1]
    return Reply(status, code, frozenset(kinds), text)


def _status(error: BaseException) -> int | None:
    response = getattr(error, "response", None)
    if isinstance(response, dict):
        status = response.get("ResponseMetadata", {}).get("HTTPStatusCode")
    else:
        status = getattr(error, "status", getattr(response, "status_code", getattr(error, "status_code", None)))
    return status if isinstance(status, int) and 100 <= status < 600 else None


def _code(error: BaseException) -> str:
    response = getattr(error, "response", None)
    code = response.get("Error", {}).get("Code") if isinstance(response, dict) else None
    return code if isinstance(code, str) and re.fullmatch(r"[A-Za-z]\w{1,59}", code) else ""


def _failure(of: Reply, address: Address, action: Action) -> EntasisError:
    status, code, kinds = of.status, of.code, of.kinds
    said = f" ({' '.join(filter(None, [str(status or ''), code]))})" if status or code else ""
    if kinds & {"AlreadyExistsError", "FileExistsError"}:
        return ExistingFileError(f"{address} exists; pass overwrite=True to replace it, or choose another name")
    if "PreconditionError" in kinds or status == 412:
        return replaced(address)
    if code == "NoSuchBucket":
        return MissingFileError(f"{address}: the bucket {address.bucket!r} does not exist; check its name")
    if found := _FUNCTION.search(of.text):
        return FilePermissionError(f"{address}: the function {found[0]}; it returns a dict of credentials")
    if address.kind == "s3" and (code in _OTHER_REGION or status in (301, 307) or _NO_LOCATION in of.text):
        return FileError(f"{address}: the bucket is in another region{said}; pass aws_region as a storage option")
    if any(place in of.text for place in _OF_MACHINE) or kinds & _NO_CREDENTIALS:
        return FilePermissionError(
            f"{address}: no credentials were found; pass storage_options, or set the environment variables of the "
            "store; public objects need skip_signature=True"
        )
    is_refused = kinds & {"PermissionDeniedError", "UnauthenticatedError", "PermissionError"}
    if is_refused or status in (401, 403) or code in _REFUSED:
        return FilePermissionError(
            f"{address}: the store refused to {action}{said}; check the credentials and their permissions"
        )
    # A file system of fsspec reports other failures as missing files, too.
    if status == 404 or (status is None and kinds & {"FileNotFoundError", "NotFoundError"}):
        if action == "write":
            return MissingFileError(f"{address}: the bucket or folder does not exist{said}; create it first")
        if _is_failed_connection(of):
            return _unreachable(address, action)
        return MissingFileError(f"{address} does not exist{said}; check the address")
    if status in _LIMITED or code == "SlowDown":
        return FileError(f"{address}: the server failed to {action}{said}, also when it was asked again; try later")
    if status is not None:
        return FileError(f"{address}: the server refused to {action}{said}; check the address and the storage options")
    if _is_late(of):
        return FileError(f"{address}: the server did not answer in time; try again, or pass a longer timeout")
    if "ertificate" in of.text:
        return FileError(f"{address}: the certificate of the server is not valid here; pass root_certificate")
    if _is_failed_connection(of):
        return _unreachable(address, action)
    if "Could not parse path" in of.text or "InvalidPathError" in kinds:
        return ArgumentError(f"{address}: the path has an empty part, '.' or '..', which obstore does not take")
    if "UnknownConfigurationKeyError" in kinds:
        return ArgumentError(f"{address}: the address or an option is not valid for this store")
    if "Config error" in of.text:
        return ArgumentError(f"{address}: a storage option has a value that the store does not take")
    kind = _KIND.sub("", " ".join(sorted(kinds & _SHOWN))) or "an error"
    return FileError(f"{address}: the store failed to {action} ({kind}); check the address and the storage options")


_KIND = re.compile(r"[^\w ]")
_SHOWN = frozenset({"GenericError", "NotSupportedError", "OSError", "RuntimeError", "TypeError", "ValueError"})


def _is_late(of: Reply) -> bool:
    return "timed out" in of.text or "TimedOut" in of.text or "TimeoutError" in of.kinds


def _is_failed_connection(of: Reply) -> bool:
    marks = ("error sending request", "body error", "kind: Connect", "Connection reset", "ConnectionReset", "dns error")
    return bool(of.kinds & _CONNECTIONS) or any(mark in of.text for mark in marks)


def _unreachable(address: Address, action: Action) -> FileError:
    instead = "nothing was written" if action == "write" else "check the address, the endpoint and the network"
    return FileError(f"{address}: the connection to the server failed, also when it was tried again; {instead}")


_Error = TypeVar("_Error", bound=EntasisError)


def _located(error: _Error, address: Address) -> _Error:
    error.file = address.shown
    return error

"""Stores that are kept: a new one makes its connections anew, and a session of s3fs takes 0.1 s."""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

# As many are kept as have been used last.
_MOST = 16
_VARIABLES = ("AWS_", "AZURE_", "GOOGLE_", "HTTP_PROXY", "HTTPS_PROXY", "IDENTITY_", "NO_PROXY")


class Kept:
    """The stores of one library, by what they were made of."""

    def __init__(self) -> None:
        self._stores: OrderedDict[Hashable, Any] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._stores)

    def clear(self) -> None:
        """Forget all stores."""
        with self._lock:
            self._stores.clear()

    def get(self, made_of: Hashable, make: Callable[[], Any]) -> Any:
        """The store that was made of this, or a new one."""
        with self._lock:
            if made_of in self._stores:
                self._stores.move_to_end(made_of)
                return self._stores[made_of]
        store = make()
        with self._lock:
            self._stores[made_of] = store
            if len(self._stores) > _MOST:
                self._stores.popitem(last=False)
        return store


def environment() -> tuple[tuple[str, str], ...]:
    """The environment variables that stores read."""
    return tuple(sorted(item for item in os.environ.items() if item[0].upper().startswith(_VARIABLES)))

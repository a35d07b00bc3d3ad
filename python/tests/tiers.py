"""How many cases the tests of a change and of a release take (docs/testing.md)."""

import os

LONG = bool(os.environ.get("ENTASIS_TEST_LONG"))
RELEASE = LONG or bool(os.environ.get("ENTASIS_TEST_RELEASE"))

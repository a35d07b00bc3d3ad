"""`entasis.read` of trees in other formats: what is for frames is an error, as for Entasis files."""

from __future__ import annotations

import numpy as np
import pytest

import entasis as en


@pytest.fixture(params=["entasis", "npz", "rds"])
def tree(request, tmp_path):
    """A file with a dict of arrays of several lengths."""
    value = {"a": np.arange(3), "b": np.arange(5.0)}
    path = tmp_path / f"tree.{request.param}"
    if request.param == "entasis":
        en.write(value, path)
    elif request.param == "npz":
        en.write_npz(value, path)
    else:
        # list(a = 0:2, b = c(0, 1, 2, 3, 4)), as saveRDS(ascii = TRUE) writes it.
        path.write_text(
            "A\n2\n262658\n131840\n531\n2\n13\n3\n0\n1\n2\n14\n5\n0\n1\n2\n3\n4\n"
            "1026\n1\n262153\n5\nnames\n16\n2\n262153\n1\na\n262153\n1\nb\n254\n"
        )
    return path


def test_what_is_for_frames_is_refused(tree):
    with pytest.raises(en.ArgumentError, match="filter are for frames"):
        en.read(tree, filter=en.col("a") > 1)
    with pytest.raises(en.ArgumentError, match="filter are for frames"):
        en.read(tree, columns="a")
    with pytest.raises(en.ArgumentError, match="nan_to_null is for frames"):
        en.read(tree, nan_to_null=True)


def test_the_value_is_read(tree):
    found = en.read(tree)
    assert list(found) == ["a", "b"]
    assert found["a"].tolist() == [0, 1, 2]
    assert found["b"].tolist() == [0, 1, 2, 3, 4]

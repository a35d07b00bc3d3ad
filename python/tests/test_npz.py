"""NPZ files are read and written."""

from __future__ import annotations

import numpy as np
import pytest

import entasis as en

ARRAYS = {"a": np.arange(5), "file": np.array([["x", "yz"]]), "c": np.array(1 + 2j), "v": np.zeros(3, "i4,f8")}


def test_arrays(tmp_path):
    path = tmp_path / "arrays.npz"
    en.write_npz(ARRAYS, path)
    assert [child.name for child in tmp_path.iterdir()] == ["arrays.npz"]
    with np.load(path) as found:
        assert sorted(found.files) == sorted(ARRAYS)
    back = en.read_npz(path)
    assert list(back) == list(ARRAYS)
    for name, array in ARRAYS.items():
        assert back[name].dtype == array.dtype
        np.testing.assert_array_equal(back[name], array)
    np.savez_compressed(path, x=np.arange(3))
    assert en.read_npz(path)["x"].tolist() == [0, 1, 2]


def test_frames(tmp_path):
    sf = pytest.importorskip("static_frame")
    given = sf.Frame(np.arange(6).reshape(3, 2), index=list("abc"), name="f")
    path = tmp_path / "frame.npz"
    en.write_npz(given, path)
    same = {"compare_name": True, "compare_dtype": True, "compare_class": True}
    assert en.read_npz(path).equals(given, **same)
    assert sf.Frame.from_npz(path).equals(given, **same)
    given.to_npy(tmp_path / "frame")
    assert en.read_npz(tmp_path / "frame").equals(given, **same)
    en.write(en.read_npz(path), tmp_path / "frame.entasis")
    assert en.read(tmp_path / "frame.entasis").equals(given, **same)


def test_objects_are_refused(tmp_path):
    path = tmp_path / "objects.npz"
    np.savez(path, x=np.array([1, "a"], dtype=object))
    with pytest.raises(en.UnsupportedTypeError, match="array 'x'"):
        en.read_npz(path)
    before = path.read_bytes()
    with pytest.raises(en.UnsupportedTypeError, match="array 'x'"):
        en.write_npz({"x": np.array([1, "a"], dtype=object)}, path)
    with pytest.raises(en.UnsupportedTypeError, match="array 3"):
        en.write_npz({3: np.arange(2)}, path)
    with pytest.raises(en.UnsupportedTypeError, match="list has no place"):
        en.write_npz([1, 2], path)
    assert path.read_bytes() == before
    sf = pytest.importorskip("static_frame")
    for frame in (sf.Frame.from_dict({"a": ["x", None]}), sf.Frame(np.arange(4).reshape(2, 2), name=np.int64(3))):
        with pytest.raises(en.UnsupportedTypeError, match="StaticFrame can't write"):
            en.write_npz(frame, path)
    assert path.read_bytes() == before
    assert [child.name for child in tmp_path.iterdir()] == ["objects.npz"]


def test_what_is_not_there(tmp_path):
    with pytest.raises(en.MissingFileError):
        en.read_npz(tmp_path / "no.npz")
    with pytest.raises(en.DirectoryError):
        en.read_npz(tmp_path)
    with pytest.raises(en.MissingFileError):
        en.write_npz({"a": np.arange(2)}, tmp_path / "no" / "a.npz")
    broken = tmp_path / "broken.npz"
    broken.write_bytes(b"no archive")
    with pytest.raises(en.CorruptFileError):
        en.read_npz(broken)


@pytest.mark.parametrize("form", ["npz", "npy"])
def test_the_zip_file_of_a_bus(form, tmp_path):
    sf = pytest.importorskip("static_frame")
    one = sf.Frame.from_dict({"a": (1, 2), "b": ("x", "y")}, name="one")
    bus = sf.Bus.from_frames((one, one.rename("\u00e9/x"), sf.Frame(np.eye(3), name="three")))
    path = tmp_path / "bus.zip"
    getattr(bus, f"to_zip_{form}")(path)
    found = en.read_npz(path)
    path.unlink()
    assert type(found) is sf.Bus
    assert found.index.values.tolist() == ["one", "\u00e9/x", "three"]
    for label in bus:
        assert found[label].equals(bus[label], compare_name=True, compare_dtype=True, compare_class=True)
    en.write(found, tmp_path / "bus.entasis")
    assert en.read(tmp_path / "bus.entasis").equals(found)


def test_what_is_no_npz_file(tmp_path):
    path = tmp_path / "n.npy"
    np.save(path, np.arange(3))
    with pytest.raises(en.ArgumentError, match="is an NPY file"):
        en.read_npz(path)
    sf = pytest.importorskip("static_frame")
    path = tmp_path / "bus.zip"
    bus = sf.Bus.from_frames((sf.Frame(np.eye(2), name="f"),))
    bus.to_zip_npz(path)
    with pytest.raises(en.ArgumentError, match=r"ends with '\.zip'"):
        en.read_npz(path.rename(tmp_path / "bus.npz"))
    bus.to_zip_pickle(path)
    with pytest.raises(en.UnsupportedTypeError, match=r"'f\.pickle' in it, which is not an array"):
        en.read_npz(path)

"""The frame that a model of R keeps of its data."""

import numpy as np
import pandas as pd

from entasis._record import Record
from entasis._values.r.frame import frame_of

TERMS = Record("r", "r.call", {"attributes": {}, "tags": None, "items": []})


def attributes(**more):
    names, labels = np.array(["y", "x"], object), np.array(["a", "b", "c"], object)
    return {"names": names, "row.names": labels, "class": "data.frame", **more}


def test_a_frame_with_terms_is_a_frame():
    columns = [np.array([1.0, 2.0, 3.0]), np.array([4, 5, 6], np.int32)]
    wanted = pd.DataFrame({"y": columns[0], "x": columns[1]}, index=pd.Index(list("abc"), dtype="str"))
    wanted.columns = pd.Index(["y", "x"], dtype="str")
    pd.testing.assert_frame_equal(frame_of(columns, attributes(terms=TERMS)), wanted)


def test_other_attributes_keep_it_a_record():
    columns = [np.array([1.0, 2.0, 3.0]), np.array([4, 5, 6], np.int32)]
    assert frame_of(columns, attributes(terms=TERMS, units="m")) is None

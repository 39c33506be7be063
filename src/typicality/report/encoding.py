"""Arrays and text as a page can read them, whatever they hold."""

import base64
import json
import re
from typing import Any

import numpy as np

_LARGEST = float(np.finfo(np.float32).max)
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
# JSON needs none of these outside of strings, and none may end a script or begin a comment there.
_DANGEROUS = {ord(mark): f"\\u{ord(mark):04x}" for mark in "<>&"}


def encoded(values: Any, dtype: str) -> dict[str, str]:
    """An array as {"dtype": ..., "data": base64 of its little-endian bytes}.

    Parameters
    ----------
    values : array
        The values; numbers too large for "f4" become the largest there is.
    dtype : {"f8", "f4", "i4", "u1"}
        What they are written as.
    """
    array = np.asarray(values)
    if dtype == "f4":
        array = np.clip(array, -_LARGEST, _LARGEST)
    data = np.ascontiguousarray(array, dtype=np.dtype(dtype).newbyteorder("<"))
    return {"dtype": dtype, "data": base64.b64encode(data.tobytes()).decode("ascii")}


def escaped_json(value: Any) -> str:
    """JSON in plain ASCII that can stand inside a script element."""
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.translate(_DANGEROUS)


def clean_text(text: Any) -> str:
    """Text in which control characters and halves of characters are replaced."""
    return _UNPRINTABLE.sub("�", str(text))

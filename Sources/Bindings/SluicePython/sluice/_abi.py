"""The functions of sluice.h, through ctypes. Nothing here is for applications: see the package itself."""

from __future__ import annotations

import ctypes
import ctypes.util
import json
import os
from ctypes import CFUNCTYPE, POINTER, c_char_p, c_int, c_int32, c_size_t, c_uint8, c_uint32, c_uint64, c_void_p
from typing import Any, Optional, Tuple

#: The version of the header that this module was written for.
VERSION = (0, 1)

TERMINATED = c_size_t(-1).value


class Text(ctypes.Structure):
    """sluice_text"""

    _fields_ = [("bytes", c_void_p), ("length", c_size_t)]


Conflict = CFUNCTYPE(c_int32, c_void_p, c_void_p, c_size_t, POINTER(Text))
Token = CFUNCTYPE(c_int32, c_void_p, c_char_p, POINTER(Text))
Body = CFUNCTYPE(c_int32, c_uint64, c_void_p)
Event = CFUNCTYPE(None, c_void_p, c_void_p, c_size_t)


class Options(ctypes.Structure):
    """sluice_options"""

    _fields_ = [
        ("size", c_size_t),
        ("store", c_char_p),
        ("endpoint", c_char_p),
        ("dialect", c_char_p),
        ("user", c_char_p),
        ("conflicts", c_char_p),
        ("token", c_char_p),
        ("token_scheme", c_char_p),
        ("application_key", c_char_p),
        ("key", c_char_p),
        ("key_length", c_size_t),
        ("passphrase", c_char_p),
        ("plugins", c_char_p),
        ("secrets", c_char_p),
        ("settings", c_char_p),
        ("settings_length", c_size_t),
        ("on_conflict", Conflict),
        ("on_conflict_data", c_void_p),
        ("on_token", Token),
        ("on_token_data", c_void_p),
    ]


_OUT = POINTER(Text)
_NAME = [c_uint64, c_char_p, _OUT]
_DOCUMENT = [c_uint64, c_char_p, c_size_t, _OUT]
_RECORD = [c_uint64, c_char_p, c_char_p, c_size_t, _OUT]
_ID = [c_uint64, c_char_p, c_char_p, _OUT]
_HANDLE = [c_uint64, _OUT]

_FUNCTIONS = {
    "sluice_version": (c_uint32, []),
    "sluice_version_text": (c_char_p, []),
    "sluice_commit": (c_char_p, []),
    "sluice_code_name": (c_char_p, [c_int32]),
    "sluice_text_set": (c_int32, [_OUT, c_char_p, c_size_t]),
    "sluice_text_free": (None, [_OUT]),
    "sluice_open": (c_int32, [POINTER(Options), POINTER(c_uint64), _OUT]),
    "sluice_close": (c_int32, _HANDLE),
    "sluice_interrupt": (c_int32, _HANDLE),
    "sluice_insert": (c_int32, _RECORD),
    "sluice_update": (c_int32, _RECORD),
    "sluice_delete": (c_int32, _ID),
    "sluice_undelete": (c_int32, _ID),
    "sluice_lookup": (c_int32, _ID),
    "sluice_query": (c_int32, _RECORD),
    "sluice_sql": (c_int32, [c_uint64, c_char_p, c_size_t, c_char_p, c_size_t, _OUT]),
    "sluice_write": (c_int32, [c_uint64, c_uint32, Body, c_void_p, _OUT]),
    "sluice_transaction_insert": (c_int32, _RECORD),
    "sluice_transaction_update": (c_int32, _RECORD),
    "sluice_transaction_delete": (c_int32, _ID),
    "sluice_transaction_undelete": (c_int32, _ID),
    "sluice_transaction_lookup": (c_int32, _ID),
    "sluice_transaction_query": (c_int32, _RECORD),
    "sluice_push": (c_int32, _DOCUMENT),
    "sluice_pull": (c_int32, _RECORD),
    "sluice_reconcile": (c_int32, _RECORD),
    "sluice_purge": (c_int32, _RECORD),
    "sluice_status": (c_int32, _HANDLE),
    "sluice_queue_list": (c_int32, _DOCUMENT),
    "sluice_queue_retry": (c_int32, _NAME),
    "sluice_queue_discard": (c_int32, _NAME),
    "sluice_queue_resolve": (c_int32, [c_uint64, c_char_p, c_int32, c_char_p, c_size_t, _OUT]),
    "sluice_subscribe": (c_int32, [c_uint64, c_uint32, Event, c_void_p, POINTER(c_uint64), _OUT]),
    "sluice_next": (c_int32, [c_uint64, c_int32, _OUT]),
    "sluice_descriptor": (c_int32, [c_uint64, POINTER(c_int), _OUT]),
    "sluice_unsubscribe": (c_int32, _HANDLE),
}


def _load() -> ctypes.CDLL:
    beside = os.path.join(os.path.dirname(__file__), "libsluice.so")
    path = os.environ.get("SLUICE_LIBRARY") or (beside if os.path.exists(beside) else "libsluice.so")
    try:
        library = ctypes.CDLL(path)
    except OSError as error:
        raise ImportError(
            "libsluice.so is not to be found: put its folder in LD_LIBRARY_PATH, its path in SLUICE_LIBRARY, or copy "
            "it into this package (" + os.path.dirname(__file__) + "): " + str(error)
        ) from None
    for name, (result, arguments) in _FUNCTIONS.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    version = library.sluice_version()
    if version >> 16 != VERSION[0] or (version >> 8) & 0xFF < VERSION[1]:
        found = library.sluice_version_text().decode()
        raise ImportError("this package needs libsluice %d.%d or a later one, and this is %s" % (*VERSION, found))
    return library


_library = _load()


def name(text: Optional[str]) -> Optional[bytes]:
    """A name, an id or a path as the library takes it."""
    if text is None:
        return None
    if "\0" in text:
        raise ValueError("a name or an id has no NUL: " + repr(text))
    return text.encode()


def document(value: Any) -> Tuple[bytes, int]:
    """A value as a document and its length."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    return text, len(text)


def read(pointer: int, length: int) -> Any:
    """The value of a document of the library's."""
    return json.loads(ctypes.string_at(pointer, length))


def raw(function: str, *arguments: Any) -> Tuple[int, Any]:
    """Calls a function with a text for its answer: the code, and the answer's value; None for an empty one."""
    out = Text()
    code = getattr(_library, function)(*arguments, ctypes.byref(out))
    try:
        return code, read(out.bytes, out.length) if out.length else None
    finally:
        _library.sluice_text_free(ctypes.byref(out))


def set_text(answer: Any, value: bytes) -> None:
    """Writes a callback's answer."""
    _library.sluice_text_set(answer, value, len(value))


def code_name(code: int) -> str:
    return _library.sluice_code_name(code).decode()


def version_text() -> str:
    return _library.sluice_version_text().decode()


def commit() -> str:
    return _library.sluice_commit().decode()

"""Events as an async iterator, and as a plain one."""

from __future__ import annotations

import asyncio
import ctypes
from typing import AsyncIterator, Generic, Optional, TypeVar, cast

from . import _abi, _results
from ._results import Event, SluiceError

_E = TypeVar("_E", bound=Event)


class Events(AsyncIterator[_E], Generic[_E]):
    """Events from the moment at which it was made.

    ``async for event in context.changes()`` waits in the event loop, without a thread. :meth:`next` waits in the
    calling thread. A slow consumer holds nobody up. It ends with :meth:`close`, with a ``with`` or when the context is
    closed.
    """

    def __init__(self, context: int, kinds: int) -> None:
        self._subscription = 0
        handle = ctypes.c_uint64()
        self._call("sluice_subscribe", context, kinds, _abi.Event(), None, ctypes.byref(handle))
        self._subscription = handle.value

    @staticmethod
    def _call(function: str, *arguments: object) -> None:
        code, value = _abi.raw(function, *arguments)
        if code != 0:
            raise SluiceError(_abi.code_name(code), (value or {}).get("message", "no message"))

    def next(self, timeout: Optional[float] = None) -> Optional[_E]:
        """Waits for the next event for so many seconds, or for as long as it takes; None if none came, or none will."""
        milliseconds = -1 if timeout is None else max(0, min(int(timeout * 1000), 2**31 - 1))
        code, value = _abi.raw("sluice_next", self._subscription, milliseconds)
        if code == 0:
            return cast(_E, _results.event(value))
        name = _abi.code_name(code)
        if name == "handle":
            self.close()
        if name in ("handle", "nothingYet"):
            return None
        raise SluiceError(name, (value or {}).get("message", "no message"))

    def __aiter__(self) -> "Events[_E]":
        return self

    async def __anext__(self) -> _E:
        loop = asyncio.get_running_loop()
        while self._subscription:
            event = self.next(0)
            if event is not None:
                return event
            if not self._subscription:
                break
            descriptor = ctypes.c_int()
            code, _ = _abi.raw("sluice_descriptor", self._subscription, ctypes.byref(descriptor))
            if code != 0:
                break
            readable: "asyncio.Future[None]" = loop.create_future()
            loop.add_reader(descriptor.value, self._arrived, readable)
            try:
                await readable
            finally:
                loop.remove_reader(descriptor.value)
        raise StopAsyncIteration

    @staticmethod
    def _arrived(readable: "asyncio.Future[None]") -> None:
        if not readable.done():
            readable.set_result(None)

    def close(self) -> None:
        """Ends it. Closing twice is allowed."""
        if self._subscription:
            subscription, self._subscription = self._subscription, 0
            _abi.raw("sluice_unsubscribe", subscription)

    def __enter__(self) -> "Events[_E]":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __del__(self) -> None:
        self.close()

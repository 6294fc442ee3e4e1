"""Contexts, tables and transactions."""

from __future__ import annotations

import ctypes
from types import TracebackType
from typing import Any, Callable, Dict, Iterable, List, Mapping, Optional, Sequence, Type, TypeVar, Union

from . import _abi, _results
from ._events import Events
from ._results import (
    Changes, Conflict, Decision, Operation, Phase, Progress, PullResult, PushResult, ReconcileResult, Record, SluiceError,
    Status,
)

_Result = TypeVar("_Result")

#: Decides a conflict: a decision, or the record that is stored and sent.
ConflictHandler = Callable[[Conflict], Union[Decision, Record]]
#: Returns a token for the server in place of the one that was refused (None for the first); None if there is none.
TokenProvider = Callable[[Optional[str]], Optional[str]]

_FAIL, _MERGE = 9, 3


def call(function: str, *arguments: Any) -> Any:
    """Calls a function of the library; its answer's value.

    :raises SluiceError: for every code but SLUICE_OK.
    """
    code, value = _abi.raw(function, *arguments)
    if code != 0:
        details = dict(value or {})
        name, message = details.pop("code", _abi.code_name(code)), details.pop("message", "no message")
        raise SluiceError(name, message, details)
    return value


def _query(members: Mapping[str, Any]) -> tuple:
    given = {name: value for name, value in members.items() if value is not None and value is not False}
    return _abi.document(given) if given else (None, 0)


class _Records:
    """What tables and transactions have in common: reads and writes of the local store. None touches the network."""

    _prefix = "sluice_"

    def __init__(self, handle: Callable[[], int]) -> None:
        self._handle = handle

    def _call(self, function: str, *arguments: Any) -> Any:
        return call(self._prefix + function, self._handle(), *arguments)

    def _insert(self, table: str, record: Mapping[str, Any]) -> Record:
        return self._call("insert", _abi.name(table), *_abi.document(record))

    def _update(self, table: str, changes: Mapping[str, Any]) -> Record:
        return self._call("update", _abi.name(table), *_abi.document(changes))

    def _delete(self, table: str, id: str) -> None:
        self._call("delete", _abi.name(table), _abi.name(id))

    def _undelete(self, table: str, id: str) -> None:
        self._call("undelete", _abi.name(table), _abi.name(id))

    def _get(self, table: str, id: str) -> Optional[Record]:
        try:
            return self._call("lookup", _abi.name(table), _abi.name(id))
        except SluiceError as error:
            if error.code == "recordMissing":
                return None
            raise

    def _read(self, table: str, members: Mapping[str, Any]) -> Dict[str, Any]:
        return self._call("query", _abi.name(table), *_query(members))


class Transaction(_Records):
    """Reads and changes of several records and tables, all of them stored or none: see :meth:`Context.write`."""

    _prefix = "sluice_transaction_"

    def insert(self, table: str, record: Mapping[str, Any]) -> Record:
        """Adds a record; one without an ``id`` gets a new UUID. Returns the record as it is stored."""
        return self._insert(table, record)

    def update(self, table: str, changes: Mapping[str, Any]) -> Record:
        """Changes the properties that are named, of the record whose ``id`` is. Returns the record as it is stored."""
        return self._update(table, changes)

    def delete(self, table: str, id: str) -> None:
        """Deletes a record."""
        self._delete(table, id)

    def undelete(self, table: str, id: str) -> None:
        """Brings a deleted record back."""
        self._undelete(table, id)

    def get(self, table: str, id: str) -> Optional[Record]:
        """The record with that id, or None."""
        return self._get(table, id)

    def query(
        self, table: str, filter: Optional[str] = None, *, orderby: Optional[str] = None, top: Optional[int] = None,
        skip: Optional[int] = None, select: Optional[str] = None,
    ) -> List[Record]:
        """The records that match; see :meth:`Table.query`."""
        members = {"filter": filter, "orderby": orderby, "top": top, "skip": skip, "select": select}
        return self._read(table, members)["items"]


class Table(_Records):
    """One table of the local store, with its changes queued for the server. Only ``pull`` and ``reconcile`` touch the
    network."""

    def __init__(self, name: str, handle: Callable[[], int]) -> None:
        super().__init__(handle)
        self.name = name

    def insert(self, record: Mapping[str, Any]) -> Record:
        """Adds a record; one without an ``id`` gets a new UUID. Returns the record as it is stored."""
        return self._insert(self.name, record)

    def update(self, changes: Mapping[str, Any]) -> Record:
        """Changes the properties that are named, of the record whose ``id`` is. Returns the record as it is stored."""
        return self._update(self.name, changes)

    def delete(self, id: str) -> None:
        """Deletes a record."""
        self._delete(self.name, id)

    def undelete(self, id: str) -> None:
        """Brings a deleted record back: at once if its delete was never sent, else by the next push."""
        self._undelete(self.name, id)

    def get(self, id: str) -> Optional[Record]:
        """The record with that id, or None."""
        return self._get(self.name, id)

    def query(
        self, filter: Optional[str] = None, *, orderby: Optional[str] = None, top: Optional[int] = None,
        skip: Optional[int] = None, select: Optional[str] = None,
    ) -> List[Record]:
        """The records that match, in OData's words: ``query("year ge 1990", orderby="year desc,title", top=10)``."""
        members = {"filter": filter, "orderby": orderby, "top": top, "skip": skip, "select": select}
        return self._read(self.name, members)["items"]

    def count(self, filter: Optional[str] = None) -> int:
        """How many records match."""
        return self._read(self.name, {"filter": filter, "top": 0, "count": True})["count"]

    def pull(
        self, named: Optional[str] = None, filter: Optional[str] = None, *, allows_mass_removal: bool = False,
        orderby: Optional[str] = None, top: Optional[int] = None, skip: Optional[int] = None,
    ) -> PullResult:
        """Brings the server's rows; with a name, what has changed since the last pull of that name."""
        members = {
            "named": named, "filter": filter, "allowsMassRemoval": allows_mass_removal, "orderby": orderby, "top": top,
            "skip": skip,
        }
        return _results.pull_result(self._call("pull", _abi.name(self.name), *_query(members)))

    def reconcile(
        self, named: str, filter: Optional[str] = None, *, allows_mass_removal: bool = False
    ) -> ReconcileResult:
        """Compares the rows of a named query with the server's, and mends what differs."""
        members = {"named": named, "filter": filter, "allowsMassRemoval": allows_mass_removal}
        return _results.reconcile_result(self._call("reconcile", _abi.name(self.name), *_query(members)))

    def purge(self, filter: Optional[str] = None, *, named: Optional[str] = None, force: bool = False) -> int:
        """Removes rows here alone; returns how many they were."""
        members = {"filter": filter, "named": named, "force": force}
        return self._call("purge", _abi.name(self.name), *_query(members))["removed"]


class Context:
    """A local store together with a server.

    Any thread may use it. Every method blocks its own thread only; ``await asyncio.to_thread(context.push)`` is the way
    to push from a coroutine. Close it, or use it in a ``with``.

    :param store: the store's file; it is made if it is not there.
    :param endpoint: the server's address; None for a context that only works locally.
    :param dialect: ``azure-v1``, ``azure-v2``, ``azure-v3`` or ``datasync``; ``azure-v2`` if it is left out.
    :param user: whose data it is, by any name.
    :param conflicts: what no one decides: ``hold``, ``server-wins`` or ``client-wins``.
    :param token: the token for the server, or what provides one; ``token_scheme`` is ``zumo``, ``bearer`` or ``basic``.
    :param key: the key of an encrypted store, 32 bytes; or ``passphrase``.
    :param plugins: the policy's file of the plugins that take part; ``secrets`` is the folder of their secrets.
    :param on_conflict: decides conflicts, on the thread that pushes. An exception holds the operation: nothing is lost.
    :param settings: the rest, as ``settings`` of sluice.h has it: ``tables``, ``batch``, ``concurrency``, …
    :raises SluiceError: what is wrong with the options or the store.
    """

    def __init__(
        self, store: str, endpoint: Optional[str] = None, *, dialect: Optional[str] = None, user: Optional[str] = None,
        conflicts: Optional[str] = None, token: Union[str, TokenProvider, None] = None,
        token_scheme: Optional[str] = None, application_key: Optional[str] = None, key: Optional[bytes] = None,
        passphrase: Optional[str] = None, plugins: Optional[str] = None, secrets: Optional[str] = None,
        on_conflict: Optional[ConflictHandler] = None, settings: Optional[Mapping[str, Any]] = None,
    ) -> None:
        self._context = 0
        options = _abi.Options(
            size=ctypes.sizeof(_abi.Options), store=_abi.name(store), endpoint=_abi.name(endpoint),
            dialect=_abi.name(dialect), user=_abi.name(user), conflicts=_abi.name(conflicts),
            token_scheme=_abi.name(token_scheme), application_key=_abi.name(application_key),
            passphrase=_abi.name(passphrase), plugins=_abi.name(plugins), secrets=_abi.name(secrets),
        )
        if key is not None:
            options.key, options.key_length = key, len(key)
        if settings is not None:
            options.settings, options.settings_length = _abi.document(settings)
        # Kept as long as the context is open: the library calls them.
        self._callbacks: List[Any] = []
        if callable(token):
            options.on_token = self._keep(_abi.Token(_token_callback(token)))
        else:
            options.token = _abi.name(token)
        if on_conflict is not None:
            options.on_conflict = self._keep(_abi.Conflict(_conflict_callback(on_conflict)))
        handle = ctypes.c_uint64()
        call("sluice_open", ctypes.byref(options), ctypes.byref(handle))
        self._context = handle.value

    def _keep(self, callback: Any) -> Any:
        self._callbacks.append(callback)
        return callback

    def _handle(self) -> int:
        return self._context

    def close(self) -> None:
        """Ends what is under way in other threads, waits for it, and closes the store. Closing twice is allowed."""
        if self._context:
            call("sluice_close", self._context)
            self._context = 0

    def __enter__(self) -> "Context":
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self.close()

    def interrupt(self) -> None:
        """Ends what is under way in other threads: it raises a SluiceError of code ``cancelled`` there."""
        call("sluice_interrupt", self._context)

    def table(self, name: str) -> Table:
        """The table of that name; it need not be declared."""
        return Table(name, self._handle)

    def write(self, body: Callable[[Transaction], _Result], *, group: bool = False) -> _Result:
        """Runs ``body`` in one transaction: all its changes are stored and queued, or, where it raises, none.

        Where plugins look at local writes the body runs again, up to four times; only the last time counts.

        :param group: whether the changes reach the server all together or not at all.
        :returns: what ``body`` returns.
        """
        results: List[_Result] = []
        errors: List[BaseException] = []

        def run(transaction: int, data: Optional[int]) -> int:
            try:
                results.append(body(Transaction(lambda: transaction)))
                return 0
            except BaseException as error:  # it goes on in the caller, on the other side of the library
                errors.append(error)
                return 1

        try:
            call("sluice_write", self._context, 1 if group else 0, _abi.Body(run), None)
        except SluiceError as error:
            if error.code == "callback" and errors:
                raise errors[-1] from None
            raise
        return results[-1]

    def sql(
        self, statement: str, bindings: Union[Sequence[Any], Mapping[str, Any], None] = None
    ) -> List[Dict[str, Any]]:
        """Reads with one SELECT of SQLite: ``sql("SELECT title FROM movies WHERE year > ?", [1990])``.

        Of columns with the same name the last one counts: name them apart.
        """
        text = statement.encode()
        values = (None, 0) if bindings is None else _abi.document(
            dict(bindings) if isinstance(bindings, Mapping) else list(bindings)
        )
        answer = call("sluice_sql", self._context, text, len(text), *values)
        return [dict(zip(answer["columns"], row)) for row in answer["rows"]]

    def push(self, tables: Optional[Iterable[str]] = None) -> PushResult:
        """Sends what waits in the queue.

        :raises SluiceError: what ended it early, ``network`` for one; ``details["push"]`` has what was done until then.
        """
        members = {"tables": None if tables is None else list(tables)}
        return _results.push_result(call("sluice_push", self._context, *_query(members)))

    def status(self) -> Status:
        """What the context does, and what the store holds and waits for."""
        return _results.status(call("sluice_status", self._context))

    def operations(
        self, states: Sequence[str] = (), *, table: Optional[str] = None, record: Optional[str] = None
    ) -> List[Operation]:
        """The queued operations: all, or those in one of the states, of the table, on the record."""
        members = {"states": list(states) or None, "table": table, "record": record}
        answer = call("sluice_queue_list", self._context, *_query(members))
        return [_results.operation(each) for each in answer["operations"]]

    def retry(self, operation: Optional[str] = None) -> int:
        """Has the next push try a parked or dead operation again; None for all. Returns how many they are."""
        return call("sluice_queue_retry", self._context, _abi.name(operation))["retried"]

    def discard(self, operation: str) -> None:
        """Gives an operation up and restores the record as the server last had it."""
        call("sluice_queue_discard", self._context, _abi.name(operation))

    def resolve(self, operation: str, decision: Union[Decision, Record]) -> None:
        """Decides a conflict that is held."""
        if isinstance(decision, Mapping):
            call("sluice_queue_resolve", self._context, _abi.name(operation), _MERGE, *_abi.document(decision))
        else:
            call("sluice_queue_resolve", self._context, _abi.name(operation), int(decision), None, 0)

    def changes(self) -> Events[Changes]:
        """Commits of the local store from now on: ``async for commit in context.changes(): …``."""
        return Events(self._context, 1)

    def progress(self) -> Events[Progress]:
        """How far pushes and pulls have come, whoever began them."""
        return Events(self._context, 2)

    def phases(self) -> Events[Phase]:
        """What the context does: first what it does now, then each change."""
        return Events(self._context, 4)


def _conflict_callback(handler: ConflictHandler) -> Callable[..., int]:
    def callback(data: Optional[int], text: int, length: int, answer: Any) -> int:
        try:
            decision = handler(_results.conflict(_abi.read(text, length)))
            if isinstance(decision, Mapping):
                _abi.set_text(answer, _abi.document(decision)[0])
                return _MERGE
            return int(Decision(decision))
        except BaseException as error:  # nothing passes through the library; the operation is held with the reason
            _abi.set_text(answer, ("%s: %s" % (type(error).__name__, error)).encode(errors="replace"))
            return _FAIL

    return callback


def _token_callback(provider: TokenProvider) -> Callable[..., int]:
    def callback(data: Optional[int], refused: Optional[bytes], answer: Any) -> int:
        try:
            token = provider(None if refused is None else refused.decode())
        except BaseException:  # without a token the request fails at the server, with a code of its own
            return 1
        if token is None:
            return 1
        _abi.set_text(answer, token.encode())
        return 0

    return callback

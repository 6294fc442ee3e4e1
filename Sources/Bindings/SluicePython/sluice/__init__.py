"""Offline data sync: a local store that syncs with a tables backend, over libsluice.so.

    import sluice

    with sluice.Context("todo.db", "https://example.net") as context:
        todos = context.table("todos")
        todos.insert({"text": "buy milk"})   # stored and queued: no network needed
        context.push()                       # sends the queue
        todos.pull(named="all")              # brings what changed since the last pull
        open_ones = todos.query("done eq false")
"""

from ._abi import commit as _commit
from ._abi import version_text as _version_text
from ._context import ConflictHandler, Context, Table, TokenProvider, Transaction
from ._events import Events
from ._results import (
    Change,
    Changes,
    Conflict,
    Decision,
    Event,
    Operation,
    Phase,
    Progress,
    PullResult,
    PushResult,
    ReconcileResult,
    Record,
    SluiceError,
    Status,
)

__all__ = [
    "Change", "Changes", "Conflict", "ConflictHandler", "Context", "Decision", "Event", "Events", "Operation", "Phase",
    "Progress", "PullResult", "PushResult", "ReconcileResult", "Record", "SluiceError", "Status", "Table",
    "TokenProvider", "Transaction",
]

#: The version of the library.
__version__ = _version_text()
#: The hash of the commit that the library was built from; empty for a build that does not know it.
__commit__ = _commit()

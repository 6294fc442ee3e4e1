"""What the library answers, as values with types."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field, fields
from typing import Any, Dict, List, Mapping, Optional, Type, TypeVar, Union

#: A record: a JSON object with an ``id``.
Record = Dict[str, Any]

_Value = TypeVar("_Value")


def _made(kind: Type[_Value], members: Mapping[str, Any]) -> _Value:
    """A value of the members that it knows: a newer library may send more."""
    known = {entry.metadata.get("member", entry.name): entry.name for entry in fields(kind)}  # type: ignore[arg-type]
    return kind(**{known[name]: value for name, value in members.items() if name in known})


def _member(name: str, default: Any = None) -> Any:
    return field(default=default, metadata={"member": name})


class SluiceError(Exception):
    """What went wrong. ``code`` is the name to decide by: ``"network"``, ``"recordMissing"``, ``"handle"``, …"""

    def __init__(self, code: str, message: str, details: Optional[Mapping[str, Any]] = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        #: What else is known: ``table``, ``record``, ``operation``, ``status``; ``push`` for one that ended early.
        self.details: Mapping[str, Any] = details or {}

    def __str__(self) -> str:
        return "%s (%s)" % (self.message, self.code)


class Decision(enum.IntEnum):
    """What becomes of a conflict. A record (a dict) is a decision too: it is stored and sent.

    A property that it leaves as the base has it is of the side that changed it, where one alone did."""

    #: Not decided here: the plugins, then the policy.
    NEXT = 0
    #: The server's record stands.
    SERVER = 1
    #: The local record is sent again, on top of the server's version.
    CLIENT = 2
    #: The record is deleted here and on the server.
    DELETE = 4
    #: The local change is given up.
    DISCARD = 5
    #: The operation waits for the next push.
    DEFER = 6
    #: The operation is held until someone decides.
    ASK = 7
    #: As ``ASK``, and the push ends.
    ABORT = 8


@dataclass(frozen=True)
class Conflict:
    """A change that the server refused because its record is not the one the change was made on."""

    table: str
    id: str
    kind: str
    operation: str
    #: The record as it is here; None where it was deleted here.
    client: Optional[Record]
    #: The record as the server has it; None where it has none.
    server: Optional[Record]
    #: The server's record on which the change was made; None for an insert.
    base: Optional[Record]
    #: Whether an earlier send may have taken effect: what adds up must not add twice.
    maybe_applied: bool = _member("maybeApplied", False)
    status: int = 0
    deleted_on_server: bool = _member("deletedOnServer", False)


@dataclass(frozen=True)
class Operation:
    """A queued local change."""

    id: str
    table: str
    record: str
    kind: str
    state: str
    revision: int = 1
    attempts: int = 0
    uncertain: bool = False
    tags: List[str] = field(default_factory=list)
    group: Optional[str] = None
    created_at: str = _member("createdAt", "")
    not_before: Optional[str] = _member("notBefore")
    failure: Optional[Dict[str, Any]] = None
    user: Optional[str] = None


@dataclass(frozen=True)
class PushResult:
    """How a push ended, with what failed for one operation alone."""

    end: str
    applied: int = 0
    conflicts: int = 0
    remaining: int = 0
    waiting: int = 0
    postponed: int = 0
    of_others: int = _member("ofOthers", 0)
    failures: List[Operation] = field(default_factory=list)

    @property
    def is_clean(self) -> bool:
        """Whether everything that was queued has reached the server."""
        return self.end == "completed" and not self.failures and self.remaining == 0


@dataclass(frozen=True)
class PullResult:
    """What a pull brought."""

    table: str
    stored: int = 0
    unchanged: int = 0
    deleted: int = 0
    pending: int = 0
    conflicts: int = 0
    quarantined: int = 0
    dropped: int = 0
    pages: int = 0
    grade: Optional[str] = None
    reasons: List[str] = field(default_factory=list)
    push: Optional[PushResult] = None


@dataclass(frozen=True)
class ReconcileResult:
    """What a reconcile mended."""

    table: str
    compared: int = 0
    stored: int = 0
    removed: int = 0
    pending: int = 0
    used_digest: bool = _member("usedDigest", False)


@dataclass(frozen=True)
class Status:
    """What a store holds and waits for."""

    phase: str
    pending: int = 0
    in_flight: int = _member("inFlight", 0)
    parked: int = 0
    dead: int = 0
    of_others: int = _member("ofOthers", 0)
    cursors: List[Dict[str, Any]] = field(default_factory=list)


@dataclass(frozen=True)
class Change:
    """What became of one record in a commit."""

    table: str
    record: str
    #: ``"inserted"``, ``"updated"`` or ``"removed"``.
    kind: str
    #: ``"local"``, ``"push"``, ``"pull"``, ``"conflict"`` or ``"purge"``.
    source: str


@dataclass(frozen=True)
class Changes:
    """A commit of the local store."""

    id: int
    changes: List[Change] = field(default_factory=list)
    #: Tables to read again whole, because not every change is listed; None: all of them.
    reload: Optional[List[str]] = None


@dataclass(frozen=True)
class Progress:
    """How far a push or a pull has come."""

    step: str
    table: Optional[str] = None
    rows: int = 0
    bytes: int = 0
    total: Optional[int] = None


@dataclass(frozen=True)
class Phase:
    """What a context does: ``"idle"``, ``"offline"``, ``"pulling"``, ``"pushing"``, ``"waiting"``, ``"needsAttention"``."""

    phase: str
    until: Optional[str] = None
    count: Optional[int] = None


Event = Union[Changes, Progress, Phase]


def operation(members: Mapping[str, Any]) -> Operation:
    return _made(Operation, members)


def push_result(members: Mapping[str, Any]) -> PushResult:
    return _made(PushResult, {**members, "failures": [operation(each) for each in members["failures"]]})


def pull_result(members: Mapping[str, Any]) -> PullResult:
    push = members.get("push")
    return _made(PullResult, {**members, "push": push_result(push) if push else None})


def reconcile_result(members: Mapping[str, Any]) -> ReconcileResult:
    return _made(ReconcileResult, members)


def status(members: Mapping[str, Any]) -> Status:
    return _made(Status, members)


def conflict(members: Mapping[str, Any]) -> Conflict:
    return _made(Conflict, members)


def event(members: Mapping[str, Any]) -> Event:
    kind = members["event"]
    if kind == "changes":
        return _made(Changes, {**members, "changes": [_made(Change, each) for each in members["changes"]]})
    return _made(Progress, members) if kind == "progress" else _made(Phase, members)

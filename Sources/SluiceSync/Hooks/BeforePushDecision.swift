public import SluiceBase

/// What is to become of an operation before it is sent.
public enum BeforePushDecision: Sendable, Hashable {
    /// It is sent, if the hooks after this one send it too.
    case send
    /// It waits for the next push, with that reason. What stands after it on the record waits too, other records do
    /// not.
    case skip(reason: String)
    /// It waits for so long, with that reason; pushes until then pass it by without asking. Longer than 30 days is 30
    /// days.
    case `defer`(Duration, reason: String)
    /// It becomes an operation of that kind, with that whole record or the one it has, as by
    /// ``SyncQueue/changeKind(_:to:record:revision:)``. The hooks are asked about it again. Where that cannot be, it
    /// stays pending with the reason.
    case changeKind(TableOperation.Kind, JSON?)
}

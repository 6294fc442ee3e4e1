internal import SluiceCore
internal import SluiceLua

/// The result of a hook's answer, for comparison with a fixture.
struct FixtureAnswer: Sendable {
    /// The decision, for a merge by rules with the resulting record; nil for none.
    var decision: JSON?
    /// The record with the plugin's changes.
    var record: JSON?
    /// The rows of a page with the plugin's changes, and the dropped rows.
    var rows: JSON?
    var dropped: JSON?
    /// The request that continues.
    var request: SyncRequest?
    /// The answer that is returned to the caller.
    var response: SyncResponse?
    /// The hook's result or its changed argument, as in the decision log.
    var raw: JSON?

    init() {}

    /// Reads the decision from a hook's result, if there is one.
    init(_ result: HookReturn) {
        raw = result.value ?? result.changed[0]
        if let value = result.value, result.type == nil, value["decision"]?.string != nil { decision = value }
    }
}

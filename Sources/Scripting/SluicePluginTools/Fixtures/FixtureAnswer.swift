internal import SluiceCore
internal import SluiceLua

/// What a hook's answer comes to, as fixtures compare it.
struct FixtureAnswer: Sendable {
    /// The decision as the script gave it, a merge by rules with the record that it comes to; nil for none.
    var decision: JSON?
    /// The record as the plugin leaves it.
    var record: JSON?
    /// The rows of a page as the plugin leaves them, and which it drops.
    var rows: JSON?
    var dropped: JSON?
    /// The request as it goes on.
    var request: Request?
    /// The answer as it goes up.
    var response: Response?
    /// What the hook returned or wrote to, as the decision log keeps it.
    var raw: JSON?

    init() {}

    /// With the decision of what the hook returned, where that is one.
    init(_ result: HookReturn) {
        raw = result.value ?? result.changed[0]
        if let value = result.value, result.type == nil, value["decision"]?.string != nil { decision = value }
    }
}

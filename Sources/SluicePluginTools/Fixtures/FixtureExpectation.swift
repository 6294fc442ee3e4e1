internal import SluiceCore
internal import SluiceLua

/// What a fixture expects. Nil is not compared.
struct FixtureExpectation: Sendable {
    /// The decision's members that are named; null for no decision.
    var decision: JSON?
    var record: JSON?
    var rows: JSON?
    var dropped: JSON?
    /// The request that goes on; of a list one for each that was given to `next`.
    var request: JSON?
    var response: JSON?
    var log: JSON?
    var values: JSON?
    var fuel: Int?
    var error: String?

    init(_ place: JSONPlace) throws(SluiceError) {
        let members = try place.members([
            "decision", "record", "page", "request", "response", "log", "kv", "fuel_max", "error",
        ])
        decision = members["decision"]?.value
        record = members["record"]?.value
        if let page = members["page"] {
            let parts = try page.members(["rows", "dropped"])
            rows = parts["rows"]?.value
            dropped = parts["dropped"]?.value
        }
        if let request = members["request"] {
            for part in request.value.kind == .array ? try request.elements(upTo: 64) : [request] {
                _ = try part.members(["method", "url", "path", "headers", "body"])
            }
            self.request = request.value
        }
        if let response = members["response"] {
            _ = try response.members(["status", "headers", "body"])
            self.response = response.value
        }
        log = members["log"]?.value
        values = members["kv"]?.value
        fuel = try members["fuel_max"]?.integer(in: 1...Int.max)
        error = try members["error"]?.choice(of: PluginFailure.Kind.allCases.map(\.rawValue))
    }

    /// What of it is to be seen from outside of a plugin, in an exchange.
    var ofExchange: FixtureExpectation {
        var expectation = self
        (expectation.decision, expectation.log, expectation.values, expectation.fuel) = (nil, nil, nil, nil)
        return expectation
    }
}

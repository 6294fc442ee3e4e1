package import SluiceCore

/// The bounds within which a policy goes on, and the times of its trial and its probation.
package struct PolicyBounds: Sendable, Hashable {
    /// The duration of the shadow trial; zero for none.
    package var trial = Duration.seconds(600)
    /// The number of decisions after which the trial ends earlier; nil for the duration alone.
    package var decisions: Int?
    /// The duration of the probation, after the policy serves.
    package var probation = Duration.seconds(3_600)
    /// The largest share of decisions in the trial that differ from the serving policy's, from 0 to 1.
    package var differences = 0.05
    /// The largest share of failed calls.
    package var errors = 0.01
    /// The largest share of calls over their limits.
    package var overruns = 0.01
    /// The largest share of calls after which an operation is held.
    package var held = 0.05
    /// The largest share of refused writes.
    package var refused = 0.05
    /// The number of calls before a share is judged: one failure of the first two calls proves little.
    package var least = 20

    package init() {}
}

/// The counts of a policy's decisions since its trial or its probation began.
package struct PolicyTally: Sendable, Hashable {
    /// The calls of its hooks.
    package var calls = 0
    /// The calls that failed, those over their limits included.
    package var errors = 0
    /// The calls over their limits.
    package var overruns = 0
    /// The operations that it held.
    package var held = 0
    /// The writes that it refused.
    package var refused = 0
    /// The decisions of the trial that were compared with the serving policy's.
    package var compared = 0
    /// The compared decisions that differ, by hook and kind: `on_conflict: server, not client`.
    package var differences: [String: Int] = [:]

    package init() {}

    /// Returns the first bound that the counts pass, in words; nil if they are inside.
    package func excess(over bounds: PolicyBounds) -> String? {
        func share(_ count: Int, of whole: Int, _ most: Double, _ name: String) -> String? {
            guard whole >= max(1, bounds.least), count > 0, Double(count) > most * Double(whole) else { return nil }
            return "\(count) of \(whole) \(name)"
        }
        return share(overruns, of: calls, bounds.overruns, "calls were over their limits")
            ?? share(errors, of: calls, bounds.errors, "calls failed")
            ?? share(held, of: calls, bounds.held, "calls held an operation")
            ?? share(refused, of: calls, bounds.refused, "calls refused a write")
            ?? share(differences.values.reduce(0, +), of: compared, bounds.differences, "decisions of the trial differ")
    }

    /// Returns the counts as JSON.
    package var json: JSON {
        var json: JSON = [
            "calls": JSON(calls), "errors": JSON(errors), "overruns": JSON(overruns), "held": JSON(held),
            "refused": JSON(refused), "compared": JSON(compared),
        ]
        json["differences"] = JSON(
            members: differences.sorted { $0.key < $1.key }.map { (PropertyName($0.key), JSON($0.value)) })
        return json
    }

    /// Reads counts.
    package init(_ json: JSON) {
        func count(_ name: PropertyName) -> Int { Int(json[name]?.int ?? 0) }
        (calls, errors, overruns) = (count("calls"), count("errors"), count("overruns"))
        (held, refused, compared) = (count("held"), count("refused"), count("compared"))
        for (name, value) in json["differences"]?.members ?? [] { differences[name.text] = Int(value.int ?? 0) }
    }
}

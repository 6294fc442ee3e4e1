internal import SluiceBase
internal import SluiceSync

/// Changes that were sent together, by the engine's own push.
struct BatchesSeen: ProbeObservation {
    /// The size that the server announces; nil for none.
    var offer: Int?
    /// The statuses of the answers to the batches.
    var statuses: [Int]
    /// The push of changes that stand by themselves, and the number of them.
    var push: PushResult?
    var count = 0
    /// Whether the first part of a group whose second part is refused has taken effect; nil where it was not tried.
    var leavesHalf: Bool?

    /// Whether a batch was answered as one.
    var isTaken: Bool { statuses.contains { 200..<300 ~= $0 } }

    var findings: [ProbeFinding] {
        var found: [ProbeFinding] = []
        if let offer, !isTaken, let status = statuses.first {
            found.append(ProbeFinding(.batchRefused, "batches of \(offer) are announced, and answered \(status)"))
        }
        if let push, push.applied < count, isTaken {
            let reason = push.error?.message ?? push.failures.first?.failure?.message ?? "no reason"
            found.append(
                ProbeFinding(.batchBroken, "of \(count) changes in a batch \(push.applied) went through: \(reason)"))
        }
        if leavesHalf == true {
            found.append(
                ProbeFinding(.batchNotAtomic, "of a group whose second change was refused the first took effect"))
        }
        return found
    }

    var facts: [(subject: String, text: String)] {
        guard !statuses.isEmpty else { return [("batches", "the server announces none, so changes go one by one")] }
        if !isTaken { return [("batches", "the server takes none (\(statuses[0]))")] }
        return [("batches", leavesHalf == false ? "taken; a group is all or nothing" : "taken")]
    }
}

/// A creation that was sent twice under one request id.
struct RepeatSeen: ProbeObservation {
    var first: ProbeRecord
    /// The second answer; nil where the server did not say that it remembers request ids.
    var second: ProbeRecord?
    var columns = SystemColumns()

    /// Whether the second answer is the first one.
    private var isSame: Bool {
        guard let second, let one = first.json, let other = second.json else { return false }
        return one[columns.id] == other[columns.id] && one[columns.version] == other[columns.version]
    }
    var isRemembered: Bool { first.remembersRequests && isSame }

    var findings: [ProbeFinding] {
        guard let second, !isSame else { return [] }
        let reason = second.error?.message ?? "another record"
        return [ProbeFinding(.repeatTwice, "a repeat under a request id that the server remembers: \(reason)")]
    }

    var facts: [(subject: String, text: String)] {
        [("repeats", isRemembered ? "request ids are remembered" : "request ids are not remembered")]
    }
}

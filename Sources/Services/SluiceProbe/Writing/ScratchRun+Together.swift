internal import HTTPTypes
internal import SluiceBase
internal import SluiceSync
internal import SluiceWire

/// Changes that are sent twice, or together.
extension ScratchRun {
    /// Sends a creation under a request id (OASIS Repeatable Requests 1.0), and again if the server remembers it.
    mutating func repeats(_ report: inout ProbeReport) async throws {
        let environment = session.environment
        let fields = [
            ("Repeatability-Request-ID", environment.makeID()),
            ("Repeatability-First-Sent", HTTPDate.text(environment.now())),
        ]
        func marked(_ request: inout SyncRequest) {
            for (name, value) in fields {
                if let name = HTTPField.Name(name) { request.head.headerFields[name] = value }
            }
        }
        let record = form.record("d", id: columns.id)
        var seen = RepeatSeen(first: try await make(record: record, marked), columns: columns)
        if seen.first.isDone, seen.first.remembersRequests { seen.second = try await make(record: record, marked) }
        if session.isService, seen.isRemembered { report.proposal.service.append(("remembers-requests", "true")) }
        report.add(seen)
    }

    /// Pushes creations together, and a group of which one part is refused.
    mutating func batches(_ report: inout ProbeReport) async throws {
        let offer = session.wire.seen.batchOffer
        guard !form.assignsIDs else {
            return report.add("batches", fact: "not tried, because the service makes the keys")
        }
        // Without an announcement a tables server may take a batch for a record of a table of that name.
        guard session.isService || offer != nil else {
            return report.add(BatchesSeen(offer: offer, statuses: []))
        }
        let before = session.wire.seen.batches.count
        var seen = BatchesSeen(offer: offer, statuses: [])
        let device = try await session.context(batchSize: 10)
        for letter in ["e", "f"] as [Unicode.Scalar] { try await insert(letter, on: device) }
        seen.count = 2
        seen.push = try await device.push()
        seen.statuses = Array(session.wire.seen.batches[before...])
        if seen.isTaken { seen.leavesHalf = try await isHalfLeft() }
        report.add(seen)
        propose(seen, &report)
    }

    private mutating func insert(_ letter: Unicode.Scalar, on device: SyncContext) async throws {
        let record = form.record(letter, id: columns.id)
        if let id = form.id(letter) { made.append(id) }
        try await device.table(session.table).insert(record)
    }

    /// Whether the first change of a group takes effect although the second one, of a row that is there, does not.
    private mutating func isHalfLeft() async throws -> Bool? {
        guard let first = form.id("g"), let taken = form.id("c") else { return nil }
        made.append(first)
        let device = try await session.context(batchSize: 10)
        let (table, records) = (
            session.table, [form.record("g", id: columns.id), form.record("c", id: columns.id, text: "other")]
        )
        try await device.group { group in for record in records { try group.insert(record, in: table) } }
        let result = try await device.push()
        guard !result.isClean, try await session.lookup(taken).json != nil else { return nil }
        return try await session.lookup(first).json != nil
    }

    private func propose(_ seen: BatchesSeen, _ report: inout ProbeReport) {
        if session.isService {
            if !seen.isTaken {
                report.proposal.service.append(("batches", "off"))
            } else if let status = seen.statuses.first, status >= 400 {
                report.proposal.service.append(("batches", "multipart"))
            }
        } else if !seen.isTaken || !seen.findings.isEmpty {
            report.proposal.batch = 1
        }
    }
}

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

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

internal import CLuaSandbox
package import SluiceCore

/// The current row of a script, as the sandbox reads it: each member in place, in the page.
final class RowView {
    let reader: RowReader
    private let text: PulledText
    private(set) var index = 0
    /// The members that earlier plugins have set.
    private(set) var members: JSON?

    private init(_ text: PulledText, _ reader: RowReader) {
        self.text = text
        self.reader = reader
    }

    /// Calls `body` with a view of the page's rows and the sandbox's reader for it.
    static func with(_ text: PulledText, _ body: (RowView, UnsafePointer<sluice_reader>) -> Void) {
        text.page.withReader { reader in
            let view = RowView(text, reader)
            let reader = sluice_reader(
                context: Unmanaged.passUnretained(view).toOpaque(),
                member: { context, name, count in
                    guard let context, let name else { return sluice_member() }
                    return Unmanaged<RowView>.fromOpaque(context)._withUnsafeGuaranteedRef { view in
                        name.withMemoryRebound(to: UInt8.self, capacity: count) {
                            view.member(UnsafeBufferPointer(start: $0, count: count))
                        }
                    }
                },
                whole: { context in
                    context.flatMap { Unmanaged<RowView>.fromOpaque($0).takeUnretainedValue().whole() }
                })
            withExtendedLifetime(view) { withUnsafePointer(to: reader) { body(view, $0) } }
        }
    }

    /// Moves to a row; false for a row that cannot be read in place.
    func turn(to row: borrowing PulledRow) -> Bool {
        guard case .page(let page, let index) = row.source, page === text else { return false }
        switch row.revision {
        case nil: if members != nil { members = nil }
        case .members(let given): members = given
        case .record: return false
        }
        self.index = index
        return true
    }

    private func member(_ name: UnsafeBufferPointer<UInt8>) -> sluice_member {
        var found = sluice_member()
        if let members, let value = members[String(decoding: name, as: UTF8.self)] {
            (found.kind, found.value) = (SLUICE_MEMBER_VALUE, value.handle.retainedRaw())
            return found
        }
        switch reader.member(name, at: index) {
        case nil: break
        case .null: found.kind = SLUICE_MEMBER_NULL
        case .bool(let value): (found.kind, found.boolean) = (SLUICE_MEMBER_BOOLEAN, value)
        case .int(let value): (found.kind, found.integer) = (SLUICE_MEMBER_INTEGER, value)
        case .double(let value): (found.kind, found.real) = (SLUICE_MEMBER_REAL, value)
        case .text(let text):
            found.kind = SLUICE_MEMBER_TEXT
            found.length = text.count
            found.text = UnsafeRawPointer(text.baseAddress)?.assumingMemoryBound(to: CChar.self)
        case .other(let place): (found.kind, found.value) = (SLUICE_MEMBER_VALUE, reader.raw(place))
        }
        return found
    }

    /// Returns a new record that the script may write to.
    private func whole() -> UnsafeMutableRawPointer? {
        let record = text.page.record(at: index)
        return (members.map { record.setting($0) } ?? record).handle.retainedRaw()
    }
}

/// A local change as scripts see it, queued or about to be stored: `op`.
package enum OperationView {
    package static func document(of change: EnqueuedChange) -> JSON {
        var document = JSON(members: [
            ("id", JSON(change.recordID)), ("table", JSON(change.table)), ("kind", JSON(change.kind.rawValue)),
            ("attempt", JSON(change.attempt)), ("tags", tags(change.tags)),
        ])
        if let record = change.record { document["record"] = record }
        if let before = change.before { document["before"] = before }
        if let group = change.group { document["group"] = JSON(group) }
        return document
    }

    package static func document(of operation: TableOperation, record: JSON?, dialect: Dialect) -> JSON {
        var document = JSON(members: [
            ("id", JSON(operation.recordID)), ("operation", JSON(operation.id)), ("table", JSON(operation.table)),
            ("kind", JSON(operation.kind.rawValue)), ("sequence", JSON(operation.sequence)),
            ("attempt", JSON(operation.attempts)), ("queued_at", JSON(operation.createdAt.description)),
            ("tags", tags(operation.tags)),
        ])
        if let record { document["record"] = record }
        if let version = record?[dialect.columns.version] { document["version"] = version }
        if let group = operation.group { document["group"] = JSON(group) }
        if let failure = operation.failure {
            document["last_error"] = ["code": JSON(failure.code), "message": JSON(failure.message)]
        }
        return document
    }

    package static func document(of failure: PushResult.Failure, dialect: Dialect) -> JSON {
        let operation = failure.operation
        var document = JSON(members: [
            ("table", JSON(operation.table)), ("id", JSON(operation.recordID)),
            ("kind", JSON(operation.kind.rawValue)), ("code", JSON(failure.code.description)),
            ("message", JSON(failure.message)), ("attempt", JSON(operation.attempts)),
            ("failed_attempts", JSON(operation.failedAttempts)), ("is_network", JSON(failure.isNetwork)),
            ("is_auth", JSON(failure.isUnauthorized)), ("maybe_applied", JSON(failure.mayBeApplied)),
            ("state", JSON(failure.state.rawValue)),
            ("body", JSON(String(decoding: failure.body, as: UTF8.self))),
            ("operation", Self.document(of: operation, record: nil, dialect: dialect)),
        ])
        if let status = failure.status { document["status"] = JSON(status) }
        if let pause = failure.retryAfter { document["retry_after"] = JSON(pause / .seconds(1)) }
        if let record = failure.record { document["record"] = record }
        return document
    }

    private static func tags(_ tags: Set<String>) -> JSON { JSON(tags.sorted().map { JSON($0) }) }

    /// Returns the kind of `decide.change_action`.
    static func kind(_ decision: DecisionDocument) throws -> TableOperation.Kind {
        let text = decision.json["kind"]?.string ?? ""
        guard let kind = TableOperation.Kind(rawValue: text == "replace" ? "update" : text) else {
            throw ScriptFailure(.badResult, "decide.change_action takes insert, update, delete or undelete")
        }
        return kind
    }
}

internal import HTTPTypes
internal import SluiceBase
internal import SluiceWire

/// A creation whose key the service assigns, in a table without a property for the record's id. After a lost answer,
/// the created row could not be told from another's.
///
/// So it is sent once. After a lost answer the error is `maybeApplied`, and sending it again needs the caller's
/// decision. If the service remembers request ids, the request is repeated like any other.
struct UnrepeatableCreation {
    private let change: RowChange
    private let sent: RowChange.Sent

    init(_ change: RowChange, _ sent: RowChange.Sent) {
        self.change = change
        self.sent = sent
    }

    private static let requestID = HTTPField.Name("Repeatability-Request-ID")
    private static let result = HTTPField.Name("Repeatability-Result")

    /// Whether the service recognizes a repeat by the request's id.
    private var isRepeatable: Bool {
        guard let name = Self.requestID, change.request.head.headerFields[name] != nil else { return false }
        return change.transport.remembersRequests
    }

    /// Returns the answer with the record under the id that is its key.
    ///
    /// - Throws: ``SluiceError`` of code `maybeApplied` if it may have taken effect and that cannot be found out.
    func answer() async throws -> SyncResponse {
        let isRepeatable = isRepeatable
        if change.request.context.mayBeApplied, !isRepeatable {
            throw unknown("it was sent before, and its answer was lost")
        }
        change.note(sent)
        let response: SyncResponse
        do {
            response = try await change.exchange.send(sent.request)
        } catch let error as SluiceError where error.cause is RequestNotSent || error.code == .cancelled {
            throw error
        } catch let error as CancellationError {
            throw error
        } catch {
            if isRepeatable { throw error }
            throw unknown("its answer was lost", cause: error)
        }
        if let name = Self.result, response.head.headerFields[name] != nil { change.transport.memory.noteRequestIDs() }
        guard (200..<300).contains(response.status) else {
            if !isRepeatable, Self.mayBeDone(response) {
                throw unknown("the service answered \(response.status)", status: response.status)
            }
            return try await change.settled(sent, response)
        }
        return try await made(response)
    }

    /// Whether the service may have created the row although it reports a failure. A service that sends `Retry-After`
    /// has not begun.
    private static func mayBeDone(_ response: SyncResponse) -> Bool {
        if response.status == 503, response.head.headerFields[.retryAfter] != nil { return false }
        return response.status == 408 || response.status >= 500
    }

    /// Returns the row that the service says it has made.
    ///
    /// - Throws: ``SluiceError`` of code `maybeApplied` if the answer does not show which one it is, or shows another one
    ///   than was sent.
    func made(_ response: SyncResponse) async throws -> SyncResponse {
        if let record = try? change.reader.record(in: response), let id = record["id"]?.textID {
            try check(record, id, status: response.status)
            return answer(record, id, like: response, 201)
        }
        guard response.body.isEmpty, let key = change.location(of: response) else {
            let page = ServerMessage.isWebPage(response) ? ": \(ServerMessage.webPage)" : ""
            throw unknown(
                "the service answered \(response.status) without the row's key\(page)", status: response.status)
        }
        let id = key.id(in: change.set)
        guard let there = try? await change.reader.read(key, as: nil), there.status == 200,
            let record = try? there.body.json
        else {
            throw unknown("the service has made it with the key \(id), and it cannot be read", status: response.status)
        }
        try check(record, id, status: response.status)
        return answer(record, id, like: there, 200)
    }

    /// Returns the answer to an earlier request for the row, found by a service that stores keys in its own spelling and
    /// compares them without it; nil if the row has the key that was sent, or another value than was sent.
    func stored(_ record: JSON, like response: SyncResponse) -> SyncResponse? {
        guard let id = record["id"]?.textID, !id.isSame(as: sent.id) else { return nil }
        let isKey = { (name: PropertyName) in change.set.key.contains { $0.name == name } }
        guard values.allSatisfy({ isKey($0.name) || isHeld($0, record) }) else { return nil }
        return answer(record, id, like: response, 200)
    }

    /// The sent properties with a value.
    private var values: [(name: PropertyName, value: JSON)] {
        (sent.body?.members ?? []).compactMap { $1.isNull ? nil : ($0, $1) }
    }

    private func isHeld(_ value: (name: PropertyName, value: JSON), _ record: JSON) -> Bool {
        func text(_ value: JSON) -> String { value.string ?? value.description }
        return record[value.name].map { text($0) == text(value.value) } ?? false
    }

    /// Notes that the service assigns keys, and throws if a row under another key than was sent has none of the sent values.
    private func check(_ record: JSON, _ id: RecordID, status: Int) throws(SluiceError) {
        guard sent.kind == .insert, !id.isSame(as: sent.id), id.text.lowercased() != sent.id.text.lowercased() else {
            return
        }
        change.transport.memory.noteAssignedKeys(change.set.name)
        guard values.contains(where: { isHeld($0, record) }) else {
            throw unknown("the service answered with another row, \(id)", status: status)
        }
    }

    private func answer(_ record: JSON, _ id: RecordID, like response: SyncResponse, _ status: Int) -> SyncResponse {
        let key = change.set.singleKey.flatMap { record[$0.name] } ?? JSON(id)
        change.request.context.noteCreated?(nil, .assigned(id, key))
        return ODataTransport.response(status, record, like: response)
    }

    private func unknown(_ reason: String, status: Int? = nil, cause: (any Error)? = nil) -> SluiceError {
        SluiceError(
            .maybeApplied,
            "\(reason): the row may be there, and nothing shows which one it is. It is not sent again by itself",
            table: change.set.name, recordID: change.request.context.recordID, status: status, cause: cause)
    }
}

extension RowChange {
    /// Converts the service's answer to a part of a batch. A failed read afterwards does not undo it.
    func settledInBatch(_ sent: Sent, _ response: SyncResponse) async -> SyncResponse {
        do {
            return try await settled(sent, response)
        } catch let error as SluiceError where error.code == .maybeApplied {
            request.context.noteCreated?(nil, .unknown(error.description))
            return ODataTransport.refusal(500, error.message)
        } catch {
            return response
        }
    }

    /// Answers such a creation in a batch. It is sent by itself, before the batch, because a lost answer would leave
    /// its outcome open. A failure is returned as an answer too, so that the others' answers are not lost.
    func aloneInBatch(_ path: TablePath) async -> SyncResponse {
        do {
            return try await answer(path)
        } catch let error as SluiceError where error.code == .maybeApplied {
            request.context.noteCreated?(nil, .unknown(error.description))
            return ODataTransport.refusal(500, error.message)
        } catch {
            if case let error as SluiceError = error, error.cause is RequestNotSent {
                return ODataTransport.refusal(503, error.message)
            }
            request.context.noteCreated?(nil, .unknown("it was broken off after it was sent"))
            return ODataTransport.refusal(500, "it was broken off after it was sent")
        }
    }
}

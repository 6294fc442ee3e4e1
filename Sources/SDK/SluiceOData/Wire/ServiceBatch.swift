internal import HTTPTypes
internal import SluiceBase
internal import SluiceWire

/// Changes that go to the service in one request (OData v2, Batch Processing; OData 4.01 Protocol, section 11.7).
struct ServiceBatch {
    /// The format of a batch.
    enum Form: Sendable, Hashable {
        /// `multipart/mixed`: v2, and v4.
        case multipart
        /// v4: OData JSON Format 4.01, section 19.
        case json
    }

    /// Changes that are carried out together or not at all, or one change by itself.
    struct Unit {
        var requests: [SyncRequest]
        /// Whether it is a change set: v2 takes changes in change sets only.
        var isSet: Bool
    }

    /// The service's answer to a unit.
    enum Answer {
        /// Each request's own answer.
        case each([SyncResponse])
        /// The one refusal of a change set that failed, and the index of its request, if the service names it; also the
        /// requests that the service reports as merely skipped.
        case failed(SyncResponse, at: Int?, skipped: Set<Int> = [])
        /// No answer: the service stopped before this unit.
        case none
    }

    let units: [Unit]
    let form: Form
    /// The path of the service's root, without a slash at its end.
    let root: String

    /// Header fields that name the user or belong to the connection: only the batch itself carries them.
    private static let ofBatch: Set<String> = [
        "authorization", "proxy-authorization", "cookie", "host", "content-length", "x-csrf-token", "x-zumo-auth",
        "x-zumo-application", "user-agent",
    ]

    /// The names of the requests in the batch: their numbers, from 1.
    private var names: [[String]] {
        var next = 0
        return units.map { unit in
            unit.requests.map { _ in
                next += 1
                return "\(next)"
            }
        }
    }

    private func fields(of request: SyncRequest) -> [HTTPField] {
        request.head.headerFields.filter { !Self.ofBatch.contains($0.name.canonicalName) }
    }

    /// Returns the address below the service's root.
    private func url(of request: SyncRequest) -> String {
        let path = request.head.path ?? "/"
        return String(path.hasPrefix(root + "/") ? path.dropFirst(root.utf8.count + 1) : path[...])
    }

    // MARK: Writing

    /// Returns the body, and its media type.
    func body() -> (body: MessageBody, type: String) {
        switch form {
        case .json: (MessageBody(json: ["requests": JSON(zip(units, names).flatMap(json))]), "application/json")
        case .multipart: multipart()
        }
    }

    private func json(_ unit: Unit, _ names: [String]) -> [JSON] {
        zip(unit.requests, names).map { request, name in
            BatchDocument.request(
                name, group: unit.isSet ? "g\(names.first ?? "")" : nil, request, url: url(of: request),
                fields: fields(of: request))
        }
    }

    private func multipart() -> (body: MessageBody, type: String) {
        let messages = units.map { $0.requests.map(message) }
        func writer(_ kind: String) -> MultipartWriter {
            var number = -1
            return MultipartWriter(of: messages.joined()) {
                number += 1
                return "\(kind)_\(number)"
            }
        }
        var batch = writer("batch")
        for (index, unit) in units.enumerated() {
            let named = zip(messages[index], names[index])
            if unit.isSet {
                var set = writer("changeset")
                for (message, name) in named { set.add(message, id: name) }
                batch.add([("Content-Type", set.type)], set.body)
            } else {
                for (message, name) in named { batch.add(message, id: name) }
            }
        }
        return (MessageBody(bytes: batch.body), batch.type)
    }

    private func message(of request: SyncRequest) -> [UInt8] {
        let body = request.body.bytes
        return MultipartWriter.message(
            "\(request.head.method.rawValue) \(url(of: request)) HTTP/1.1", fields(of: request), body,
            tellsLength: !body.isEmpty)
    }

    // MARK: Reading

    /// Returns the service's answer to each unit.
    ///
    /// - Throws: ``SluiceError`` of code `brokenProtocol` for an answer that does not fit the batch: it is then unknown
    ///   which changes were carried out.
    func answers(in response: SyncResponse) throws(SluiceError) -> [Answer] {
        if let boundary = MultipartReader.boundary(response.head.headerFields[.contentType]) {
            return try matched(try MultipartAnswers.read(response.body.bytes, boundary: boundary))
        }
        guard let elements = BatchDocument.answers(of: try? response.body.json) else {
            throw Self.broken("holds no answers")
        }
        return try matched(elements)
    }

    static func broken(_ what: String) -> SluiceError {
        SluiceError(.brokenProtocol, "the service's answer to a batch \(what)")
    }

    /// Assigns the parts of a multipart answer to units by their repeated Content-ID; without any, they are in the
    /// order of the units. A change set that failed is one part outside of a set, or a set of one part with the reason.
    private func matched(_ parts: [MultipartAnswers.Part]) throws(SluiceError) -> [Answer] {
        guard parts.count <= units.count else { throw Self.broken("has more parts than the batch") }
        let places = try places(of: parts)
        var answers: [Answer] = []
        for (place, (unit, names)) in zip(units, names).enumerated() {
            guard let index = places.firstIndex(of: place) else {
                answers.append(.none)
                continue
            }
            let part = parts[index]
            let replies = part.answers
            let count = unit.requests.count
            let failed = replies.firstIndex { $0.response.status >= 400 }
            if replies.count == count, count == 1 || (part.isSet && failed == nil) {
                answers.append(.each(try ordered(replies, names)))
            } else if let failed, replies.count <= count {
                // A single reason may be about any request, unless it names one.
                let place = replies[failed].id.flatMap { names.firstIndex(of: $0) }
                answers.append(.failed(replies[failed].response, at: place))
            } else {
                throw Self.broken("has another number of answers than a change set has requests")
            }
        }
        return try complete(answers)
    }

    /// Returns for each part the index of its unit.
    private func places(of parts: [MultipartAnswers.Part]) throws(SluiceError) -> [Int] {
        var places: [Int] = []
        var isMoved = false
        var hasUnnamed = false
        for (index, part) in parts.enumerated() {
            let ids = Set(part.answers.compactMap(\.id))
            let own = ids.isEmpty ? nil : names.firstIndex { ids.isSubset(of: $0) }
            if !ids.isEmpty, own == nil, ids.contains(where: { id in names.contains { $0.contains(id) } }) {
                throw Self.broken("mixes the answers of several changes")
            }
            // An id that is not of this batch is ignored.
            hasUnnamed = hasUnnamed || own == nil
            isMoved = isMoved || (own != nil && own != index)
            places.append(own ?? index)
        }
        guard Set(places).count == places.count, !(isMoved && hasUnnamed) else {
            throw Self.broken("does not say which change each part is about")
        }
        return places
    }

    /// Fills in missing answers after a failure, since a service may stop at the first one.
    private func complete(_ answers: [Answer]) throws(SluiceError) -> [Answer] {
        var hasFailed = false
        for answer in answers {
            switch answer {
            case .each(let responses): hasFailed = hasFailed || responses.contains { $0.status >= 400 }
            case .failed: hasFailed = true
            case .none:
                guard hasFailed else { throw Self.broken("leaves out requests, and what became of them is unknown") }
            }
        }
        return answers
    }

    /// Returns a set's answers by their Content-ID, as they may stand in any order; in the order of the requests if the
    /// service does not repeat it.
    private func ordered(
        _ replies: [(id: String?, response: SyncResponse)], _ names: [String]
    ) throws(SluiceError) -> [SyncResponse] {
        let ids = replies.compactMap(\.id)
        guard Set(ids) == Set(names), ids.count == names.count else { return replies.map(\.response) }
        return names.compactMap { name in replies.first { $0.id == name }?.response }
    }

    /// Assigns the answers of a JSON document to units by their ids.
    private func matched(_ elements: [(id: String?, response: SyncResponse?)]) throws(SluiceError) -> [Answer] {
        var byName: [String: SyncResponse] = [:]
        for (id, response) in elements {
            guard let id, let response else { throw Self.broken("has an answer without its id or status") }
            guard byName.updateValue(response, forKey: id) == nil else {
                throw Self.broken("answers one request twice")
            }
        }
        var answers: [Answer] = []
        for (unit, names) in zip(units, names) {
            let replies = names.map { byName[$0] }
            let failures = replies.indices.filter { (replies[$0]?.status ?? 0) >= 400 }
            if replies.allSatisfy({ $0 == nil }) {
                answers.append(.none)
            } else if unit.isSet, let failed = failures.first, let reason = replies[failed] {
                // An answer that only reports another's failure (424) is not the reason. The same failure for all
                // requests names none of them.
                let own = failures.filter { replies[$0]?.status != 424 }
                let only = own.count == 1 || failures.count == 1
                let place = own.first ?? failed
                let skipped = Set(failures.filter { own.first != nil && replies[$0]?.status == 424 })
                answers.append(.failed(replies[place] ?? reason, at: only ? place : nil, skipped: skipped))
            } else if replies.allSatisfy({ $0 != nil }) {
                answers.append(.each(replies.compactMap { $0 }))
            } else {
                throw Self.broken("leaves out requests of a change set")
            }
        }
        return try complete(answers)
    }
}

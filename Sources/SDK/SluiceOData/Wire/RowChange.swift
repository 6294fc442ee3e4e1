internal import HTTPTypes
internal import SluiceBase
internal import SluiceWire

/// Creates, changes or deletes one row.
///
/// The answer to a successful change holds the service's row: a 204 is followed by a read, since services also set
/// properties by themselves. The answer to a change whose condition failed holds it too.
struct RowChange {
    let transport: ODataTransport
    let set: EntitySet
    let request: SyncRequest
    let reader: RowRead

    init(_ transport: ODataTransport, _ set: EntitySet, _ request: SyncRequest) {
        self.transport = transport
        self.set = set
        self.request = request
        reader = RowRead(transport, set, request)
    }

    var exchange: ServiceExchange { transport.exchange }
    var form: RowForm { reader.form }

    // MARK: Before the change is sent

    /// A change in the service's form.
    struct Sent {
        enum Kind { case insert, unnamedInsert, update, delete }

        var kind: Kind
        var id: RecordID
        /// Nil until the service has assigned it.
        var key: EntityKey?
        var method: HTTPRequest.Method
        /// The value of `If-Match`.
        var tag: String?
        var body: JSON?
        var request: SyncRequest
    }

    /// A change to send for a request, or its answer if nothing has to be sent.
    enum Plan {
        case change(Sent)
        case answered(SyncResponse)
    }

    /// Prepares the change for the request.
    ///
    /// - Parameter inBatch: whether it is sent with others. It is then unknown whether it was sent before.
    func plan(_ path: TablePath, inBatch: Bool = false) async throws -> Plan {
        switch (path, request.head.method) {
        case (.table, .post): return try await planInsert(inBatch: inBatch)
        case (.table, _): return .answered(ODataTransport.refusal(405, "a table takes GET and POST"))
        case (.record(_, let id), .patch), (.record(_, let id), .put): return try await planUpdate(id, inBatch: inBatch)
        case (.record(_, let id), .delete): return try await planDelete(id, inBatch: inBatch)
        default:
            return .answered(
                ODataTransport.refusal(405, "an OData service keeps no deleted rows, so none can be brought back"))
        }
    }

    private func planInsert(inBatch: Bool) async throws -> Plan {
        let record = try body()
        if !request.context.isRemade, let refusal = refusal(ofNew: record) { return .answered(refusal) }
        switch NewKey(of: record, called: record["id"]?.textID, in: set, version: exchange.version) {
        case .refused(let reason): return .answered(ODataTransport.refusal(422, reason))
        case .whole(let key):
            // The row's id is its key, or a separate one.
            let id = record["id"]?.textID.flatMap { set.clientID == nil ? nil : $0 } ?? key.id(in: set)
            let clientID = id == key.id(in: set) ? nil : id
            let members = key.members(in: set, version: exchange.version)
            return .change(post(.insert, id, key, form.body(ofNew: record, key: members, clientID: clientID)))
        case .assigned(let given):
            // A creation that is sent once needs no id.
            guard let id = record["id"]?.textID ?? (isSentOnce ? RecordID("new") : nil) else {
                return .answered(ODataTransport.refusal(400, "the record has no id"))
            }
            return try await planUnnamed(id, form.body(ofNew: record, key: given, clientID: id), inBatch: inBatch)
        }
    }

    /// Prepares a row whose key the service assigns. Only a property with the record's id tells two such rows apart; so
    /// a row that may have been sent before is searched first. Without such a property it is sent once
    /// (`UnrepeatableCreation`).
    private func planUnnamed(_ id: RecordID, _ body: JSON, inBatch: Bool) async throws -> Plan {
        guard set.clientID != nil else {
            if inBatch {
                return .answered(
                    ODataTransport.refusal(
                        422,
                        "the service assigns the keys of \(set.name), and no property finds a row whose answer was lost: it "
                            + "goes in no group"))
            }
            return .change(post(.unnamedInsert, id, nil, body))
        }
        let mayBeThere = inBatch || request.context.mayBeRepeat || request.context.attempt > 0
        if mayBeThere, let key = try await reader.key(of: id) {
            let there = try await reader.read(key, as: id)
            if there.status == 200 {
                return .answered(ODataTransport.response(409, (try? there.body.json) ?? .null, like: there))
            }
            if there.status != 404 { return .answered(there) }
        }
        if request.context.mayBeUnderWay, !transport.remembersRequests { return try waits(id, inBatch: inBatch) }
        return .change(post(.unnamedInsert, id, nil, body))
    }

    /// Refuses to send a creation again whose first request may still be carried out: the service would then make two
    /// rows. It waits in the queue, and is searched for again.
    private func waits(_ id: RecordID, inBatch: Bool) throws -> Plan {
        let reason =
            "an earlier request for the row got no answer and may still be carried out: it is looked for again later"
        if inBatch { return .answered(ODataTransport.refusal(503, reason)) }
        throw SluiceError(
            .serverFailure, reason, table: set.name, recordID: id, cause: RequestNotSent(reason))
    }

    private func post(_ kind: Sent.Kind, _ id: RecordID, _ key: EntityKey?, _ body: JSON) -> Sent {
        let made = exchange.request(
            .post, exchange.path([set.name]), for: request, fields: repeatability + representation, body: body)
        return Sent(kind: kind, id: id, key: key, method: .post, tag: nil, body: body, request: made)
    }

    private func planUpdate(_ id: RecordID, inBatch: Bool) async throws -> Plan {
        let record = try body()
        guard let key = try await reader.key(of: id) else { return .answered(RowRead.missing) }
        if let refusal = try await refusal(ofChanges: record, key) { return .answered(refusal) }
        let condition = try await condition(key, id)
        if let refusal = condition.refusal { return .answered(refusal) }
        let isWhole = request.head.method == .put
        let body = isWhole ? form.body(ofWhole: record, id, key: key) : form.body(ofChanges: record)
        return .change(
            change(.update, id, key, isWhole ? .put : updateMethod, condition.tag, body, inBatch: inBatch))
    }

    private func planDelete(_ id: RecordID, inBatch: Bool) async throws -> Plan {
        guard let key = try await reader.key(of: id) else { return .answered(RowRead.missing) }
        let condition = try await condition(key, id)
        if let refusal = condition.refusal { return .answered(refusal) }
        return .change(change(.delete, id, key, .delete, condition.tag, nil, inBatch: inBatch))
    }

    private var updateMethod: HTTPRequest.Method {
        let merge = HTTPRequest.Method("MERGE")
        if exchange.version == .v2, let merge, !transport.memory.refuses(merge.rawValue) { return merge }
        return .patch
    }

    private func change(
        _ kind: Sent.Kind, _ id: RecordID, _ key: EntityKey, _ method: HTTPRequest.Method, _ tag: String?,
        _ body: JSON?, inBatch: Bool
    ) -> Sent {
        var fields = repeatability + (body == nil ? [] : representation)
        if let tag { fields.append(("If-Match", tag)) }
        // A network that blocks other methods does not see those inside a batch.
        let isTunnelled =
            (transport.settings.tunnelsMethods && !inBatch) || transport.memory.refuses(method.rawValue)
        if isTunnelled { fields.append((exchange.version.tunnelField, method.rawValue)) }
        let made = exchange.request(
            isTunnelled ? .post : method, exchange.path(of: key, in: set), for: request, fields: fields, body: body)
        return Sent(kind: kind, id: id, key: key, method: method, tag: tag, body: body, request: made)
    }

    // MARK: Sending

    /// Returns the answer to a single request.
    func answer(_ path: TablePath) async throws -> SyncResponse {
        switch try await plan(path) {
        case .answered(let response): return response
        case .change(let sent) where isSentOnce && (sent.kind == .unnamedInsert || sent.kind == .insert):
            return try await UnrepeatableCreation(self, sent).answer()
        case .change(var sent):
            note(sent)
            var response = try await exchange.send(sent.request)
            while let other = again(sent, response, inBatch: false) {
                sent = other
                note(sent)
                response = try await exchange.send(sent.request)
            }
            return try await settled(sent, response)
        }
    }

    /// Whether a row created in the set cannot be found again if the answer is lost: by its metadata, the settings, or
    /// the key of an earlier row.
    var isSentOnce: Bool {
        self.set.clientID == nil && (self.set.assignsKey || transport.memory.assignsKeys(self.set.name))
    }

    func note(_ sent: Sent) {
        request.context.noteSent?(nil, SyncRequest.Sent(sent.request, to: exchange.endpoint))
    }

    /// Returns the change in another form, after an answer that requires it; nil if the answer is final.
    func again(_ sent: Sent, _ response: SyncResponse, inBatch: Bool) -> Sent? {
        guard let key = sent.key, sent.kind == .update || sent.kind == .delete else { return nil }
        if response.status == 428, sent.tag == nil {
            // The caller gave no version, so the change is unconditional; the service requires that to be explicit.
            return change(sent.kind, sent.id, key, sent.method, "*", sent.body, inBatch: inBatch)
        }
        let isTunnelled = sent.request.head.method != sent.method
        // MERGE exists only in v2: PATCH is tried through a tunnel too.
        let isOld = sent.method.rawValue == "MERGE" && !transport.memory.refuses("MERGE")
        guard !isTunnelled || isOld, [405, 501].contains(response.status) else { return nil }
        transport.memory.noteRefused(sent.method.rawValue)
        let method = sent.method == .delete || sent.method == .put ? sent.method : updateMethod
        return change(sent.kind, sent.id, key, method, sent.tag, sent.body, inBatch: inBatch)
    }

    // MARK: After the change was sent

    /// Converts the service's answer to the answer to the request.
    ///
    /// - Throws: errors of reading the row afterwards. None of them says that the change was not sent.
    func settled(_ sent: Sent, _ response: SyncResponse) async throws -> SyncResponse {
        do {
            return try await converted(sent, response)
        } catch let error as SluiceError where error.cause is RequestNotSent {
            throw SluiceError(error.code, error.message, table: set.name, recordID: sent.id)
        }
    }

    private func converted(_ sent: Sent, _ response: SyncResponse) async throws -> SyncResponse {
        guard (200..<300).contains(response.status) else {
            // Services report in many ways that a row of that key exists, perhaps from an earlier send. A failure (500)
            // may come after the change was done: if others change the row too, its state proves nothing, and the
            // repeat finds out.
            let isRepeat = request.context.source != .push || request.context.mayBeRepeat
            let mayTell = sent.kind == .insert ? [400, 409, 412, 422] + (isRepeat ? [500] : []) : [409, 412]
            guard sent.kind != .unnamedInsert, mayTell.contains(response.status) else { return response }
            return try await reason(sent, response) ?? response
        }
        switch sent.kind {
        case .delete:
            // An answer with a body does not confirm the change, and one of another status may only have taken it in (202).
            guard response.body.isEmpty, response.status == 204 else { return response }
            var done = SyncResponse(HTTPResponse(status: .noContent))
            done.head.headerFields = response.head.headerFields
            return done
        case .insert where mayBeEcho(response, sent), .unnamedInsert where mayBeEcho(response, sent):
            // As an answer without a row: the row itself is read.
            var unproven = SyncResponse(HTTPResponse(status: .ok))
            unproven.head.headerFields = response.head.headerFields
            return unproven
        case .unnamedInsert:
            if let made = try reader.record(in: response, as: sent.id) {
                return ODataTransport.response(201, made, like: response)
            }
            guard response.body.isEmpty else { return response }
            var key = location(of: response)
            if key == nil { key = try await reader.key(of: sent.id) }
            guard let key else { return SyncResponse(HTTPResponse(status: .noContent)) }
            return await done(response, key, sent.id)
        case .insert where isElsewhere(response, sent): return try await UnrepeatableCreation(self, sent).made(response)
        case .insert, .update:
            guard let key = sent.key else { return response }
            return await request.context.source == .push
                ? pushed(response, sent, key) : done(response, key, sent.id)
        }
    }

    /// Whether the answer to a creation may be the request's own body, sent back by a proxy: a service gives the row's
    /// address (OData Protocol 4.01, section 11.4.2), its version, or a key that was not sent.
    private func mayBeEcho(_ response: SyncResponse, _ sent: Sent) -> Bool {
        guard request.context.source == .push, !response.body.isEmpty, location(of: response) == nil,
            response.head.headerFields[.location] == nil, response.head.headerFields[.eTag] == nil
        else { return false }
        // A page or another text is judged as what it is.
        guard let entity = try? SetPage.entity(in: response, of: set) else { return false }
        guard reader.form.tag(of: entity) == nil else { return false }
        guard let key = EntityKey(row: entity, in: set, version: reader.form.version) else {
            // Without a property for the record's id such a row cannot be looked for.
            return sent.kind == .insert || set.clientID != nil
        }
        return sent.key?.isSame(as: key) ?? false
    }

    /// Whether the service has made the row under another key than the one that it was sent: it assigns keys, and its
    /// metadata does not say so.
    private func isElsewhere(_ response: SyncResponse, _ sent: Sent) -> Bool {
        guard request.context.source == .push else { return false }
        let made =
            response.body.isEmpty
            ? location(of: response).map { $0.id(in: set) } : (try? reader.record(in: response))?["id"]?.textID
        return made.map { !$0.isSame(as: sent.id) } ?? false
    }

    /// Returns a refusal with the service's current row; nil if the row does not show the reason: then the service's
    /// own message is the answer.
    private func reason(_ sent: Sent, _ response: SyncResponse) async throws -> SyncResponse? {
        guard let key = sent.key else { return nil }
        let there = try await reader.read(key, as: sent.id, orOther: sent.kind == .insert)
        if sent.kind != .insert, there.status == 404 || there.status == 410 { return there }
        guard there.status == 200, let record = try? there.body.json else { return nil }
        if sent.kind != .insert, let condition = request.head.headerFields[.ifMatch],
            Self.isSame(condition, record["__version"]?.string ?? "")
        {
            return nil
        }
        if sent.kind == .insert, request.context.mayBeRepeat || request.context.attempt > 0,
            let made = UnrepeatableCreation(self, sent).stored(record, like: there)
        {
            return made
        }
        let status = sent.kind == .insert ? 409 : response.status
        var answer = ODataTransport.response(status, record, like: there)
        if response.status >= 500, let name = AnswerStatus.ownStatus {
            answer.head.headerFields[name] = String(response.status)
        }
        if let name = HTTPField.Name("Repeatability-Result") {
            answer.head.headerFields[name] = response.head.headerFields[name]
        }
        return answer
    }

    /// A row's evidence about a change of a failed set.
    enum Blame {
        /// The refusal with the row: it exists already, or is gone, or has changed since.
        case blamed(SyncResponse)
        /// The row does not speak against the change.
        case clear
        /// The row cannot be read, or is inconclusive.
        case unknown
    }

    /// Judges by the row whether the change made its set fail.
    func blame(_ sent: Sent) async -> Blame {
        do {
            var key = sent.key
            if key == nil { key = try await reader.key(of: sent.id) }
            guard let key else { return .unknown }
            let there = try await reader.read(key, as: sent.id)
            let isMissing = there.status == 404 || there.status == 410
            let record = there.status == 200 ? try? there.body.json : nil
            switch sent.kind {
            case .insert, .unnamedInsert:
                if isMissing { return .clear }
                return record.map { .blamed(ODataTransport.response(409, $0, like: there)) } ?? .unknown
            case .update, .delete:
                if isMissing { return .blamed(there) }
                guard let record, let tag = sent.tag, tag != "*", let version = record["__version"]?.string else {
                    return .unknown
                }
                return version == tag ? .clear : .blamed(ODataTransport.response(412, record, like: there))
            }
        } catch {
            return .unknown
        }
    }

    /// Returns the key in the address of an answer to a creation without a body. Only the key counts: the host may
    /// differ.
    func location(of response: SyncResponse) -> EntityKey? {
        let entityID = HTTPField.Name("OData-EntityId").flatMap { response.head.headerFields[$0] }
        return (entityID ?? response.head.headerFields[.location]).flatMap { EntityKey(address: $0, in: set) }
    }

    /// Returns the answer to a successful change, with the current row. If the row cannot be read, it is the service's
    /// own: a failed read does not undo the change.
    private func done(_ response: SyncResponse, _ key: EntityKey, _ id: RecordID) async -> SyncResponse {
        if response.status != 204, let record = try? reader.record(in: response, as: id, key) {
            return ODataTransport.response(response.status == 201 ? 201 : 200, record, like: response)
        }
        // An answer with another body does not confirm the change.
        guard response.body.isEmpty else { return response }
        if let there = try? await reader.read(key, as: id), there.status == 200 {
            return ODataTransport.response(200, (try? there.body.json) ?? .null, like: there)
        }
        return SyncResponse(HTTPResponse(status: .noContent))
    }

    /// Returns the answer to a queued change, on which later changes build: only a row exactly as the change left it
    /// counts. If others may have changed it since, the answer holds no row, and the queue reads it itself.
    private func pushed(_ response: SyncResponse, _ sent: Sent, _ key: EntityKey) async -> SyncResponse {
        guard response.status == 204 || response.body.isEmpty else { return await done(response, key, sent.id) }
        // Services answer without a body by 204. An empty 200 may come from a proxy on the way, and confirms nothing.
        if response.status == 200 { return response }
        let nothing = SyncResponse(HTTPResponse(status: .noContent))
        guard let tag = response.head.headerFields[.eTag], !tag.isEmpty else { return nothing }
        // The row is unchanged, whatever the status.
        if let condition = sent.tag, Self.isSame(condition, tag) {
            return ODataTransport.response(200, ["id": JSON(sent.id), "__version": JSON(condition)], like: response)
        }
        let read = await done(response, key, sent.id)
        let version = (try? read.body.json["__version"]?.string) ?? ""
        return Self.isSame(version, tag) || version.hasPrefix(RowForm.contentMark) ? read : nothing
    }

    /// Whether both tags name one state of a row: services write the same tag weak in one place and strong in another.
    static func isSame(_ one: String, _ other: String) -> Bool {
        func opaque(_ tag: String) -> Substring { tag.hasPrefix("W/") ? tag.dropFirst(2) : tag[...] }
        return opaque(one) == opaque(other)
    }

    /// Returns the tag to send in `If-Match`, or the refusal that the service would give if it had tags.
    ///
    /// A version that is a digest of the row's content is compared here, with the row read for that. Between the read
    /// and the change another change may come; a service without tags cannot prevent that.
    private func condition(
        _ key: EntityKey, _ id: RecordID
    ) async throws -> (tag: String?, refusal: SyncResponse?) {
        guard let tag = request.head.headerFields[.ifMatch] else { return (nil, nil) }
        guard tag.hasPrefix(RowForm.contentMark) else { return (tag, nil) }
        let exchange = exchange
        let response = try await exchange.send(
            exchange.request(.get, exchange.path(of: key, in: set), for: request))
        guard response.status == 200, let entity = try SetPage.entity(in: response, of: set) else {
            return (nil, response)
        }
        guard form.contentVersion(of: entity) == tag else {
            let record = try reader.record(in: response, as: id, key) ?? .null
            return (nil, ODataTransport.response(412, record, like: response))
        }
        return (form.tag(of: entity) ?? response.head.headerFields[.eTag], nil)
    }

    // MARK: Parts of requests

    private func body() throws(SluiceError) -> JSON {
        do throws(JSON.ParseError) {
            return try request.body.json
        } catch {
            throw SluiceError(
                .invalidRecord, "the record is not JSON any more, and an OData service takes nothing else",
                table: set.name,
                recordID: request.context.recordID, cause: error)
        }
    }

    private var representation: [(String, String)] {
        exchange.version == .v4 ? [("Prefer", "return=representation")] : []
    }

    /// v2: the header fields by which SAP's services recognize a repeat (SAP Gateway, Repeatable Requests); those of v4
    /// are set by the engine.
    private var repeatability: [(String, String)] {
        guard exchange.version == .v2, let name = HTTPField.Name("Repeatability-Request-ID"),
            let id = request.head.headerFields[name]
        else { return [] }
        func digits(_ seed: String) -> String {
            let text = String(FNV1a.spread(FNV1a.hash((seed + id).utf8)), radix: 16, uppercase: true)
            return String(repeating: "0", count: 16 - text.utf8.count) + text
        }
        let created = HTTPField.Name("Repeatability-First-Sent").flatMap { request.head.headerFields[$0] }
        return [("RequestID", digits("a") + digits("b"))] + (created.map { [("RepeatabilityCreation", $0)] } ?? [])
    }
}

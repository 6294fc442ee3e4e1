internal import HTTPTypes
internal import SluiceCore
internal import SluiceOData

extension SimulatedServer {
    private static let csrf = HTTPField.Name("X-CSRF-Token")
    private static let tunnels = ["X-HTTP-Method", "X-HTTP-Method-Override"].compactMap { HTTPField.Name($0) }
    private static let prefer = HTTPField.Name("Prefer")
    private static let entityID = HTTPField.Name("OData-EntityId")

    /// Answers a request as an OData service.
    func serve(_ request: SyncRequest, _ service: SimulatedService, _ device: Int, user: Int, _ state: inout State)
        -> SyncResponse
    {
        let path = String((request.head.path ?? "/").prefix { $0 != "?" })
        let token = Self.csrf.flatMap { request.head.headerFields[$0] }
        if request.head.method == .get {
            var response =
                path == "/" || path == "/$metadata"
                ? service.description : read(request, service, &state)
            if let name = Self.csrf, token == "Fetch" {
                response.head.headerFields[name] = "forgery-\(state.epoch)"
                response.head.headerFields[.setCookie] = "session=s\(state.epoch); Path=/; HttpOnly"
            }
            return response
        }
        if service.has(.wantsToken) {
            let isOurs = request.head.headerFields[.cookie]?.contains("session=s\(state.epoch)") ?? false
            guard token == "forgery-\(state.epoch)", isOurs else {
                var response = service.refusal(403, "CSRF token validation failed")
                if let name = Self.csrf { response.head.headerFields[name] = "Required" }
                return response
            }
        }
        guard path == "/$batch" else {
            return change(request, service, device, user: user, isAlone: true, &state)
        }
        guard setting.takesBatches else { return service.refusal(404, "no such resource") }
        let type = request.head.headerFields[.contentType] ?? ""
        let isJSON = type.hasPrefix("application/json")
        if isJSON, service.version == .v2 || service.has(.refusesJSON) {
            return service.refusal(415, "a batch is multipart/mixed")
        }
        guard let batch = isJSON ? ModelBatch(request) : ServiceMultipart.batch(request.body.bytes, type) else {
            return service.refusal(400, "the batch cannot be read")
        }
        let answers = answers(to: batch, &state) { request, isAlone, state in
            change(request, service, device, user: user, isAlone: isAlone, &state)
        }
        let told = ServiceMultipart.told(
            answers, of: batch, isJSON: isJSON, failsAtOnce: service.has(.failsSetsAtOnce))
        return isJSON ? ModelBatch.answer(told.map { ($0.id, $0.response) }) : ServiceMultipart.answer(told)
    }

    /// Returns the table and id of an address below the root; nil for any other address.
    private func place(_ path: Substring) -> (table: String, id: RecordID?)? {
        let text = ModelCall.decode(path.dropFirst())
        guard text.utf8.last == UInt8(ascii: ")") else { return (text, nil) }
        // By bytes: an id may begin with a combining mark that Swift joins to the quote.
        guard let open = text.utf8.firstIndex(of: UInt8(ascii: "(")) else { return nil }
        let inner = text.utf8[text.utf8.index(after: open)...].dropLast()
        guard inner.count >= 2, inner.first == UInt8(ascii: "'"), inner.last == UInt8(ascii: "'") else { return nil }
        let id = String(decoding: inner.dropFirst().dropLast(), as: UTF8.self)
        return (String(text[..<open]), .string(id.replacing("''", with: "'")))
    }

    private func read(_ request: SyncRequest, _ service: SimulatedService, _ state: inout State) -> SyncResponse {
        let path = request.head.path ?? "/"
        guard let place = place(path.prefix { $0 != "?" }), SimulatedService.sets.contains(place.table) else {
            return service.refusal(404, "no such resource")
        }
        if let status = outage(of: place.table, isRow: place.id != nil, &state) {
            return service.refusal(status, "not now")
        }
        guard let id = place.id else { return serviceList(request, service, place.table, state) }
        guard let row = state.tables[place.table]?[id], !row.isDeleted else {
            return service.refusal(404, "no such row")
        }
        return service.answer(200, row.wire, place.table)
    }

    /// Performs a change as the server of the tables wire, and answers as the service.
    private func change(
        _ request: SyncRequest, _ service: SimulatedService, _ device: Int, user: Int, isAlone: Bool,
        _ state: inout State
    ) -> SyncResponse {
        let path = (request.head.path ?? "/").prefix { $0 != "?" }
        guard let place = place(path), SimulatedService.sets.contains(place.table) else {
            return service.refusal(404, "no such resource")
        }
        let named = Self.tunnels.lazy.compactMap { request.head.headerFields[$0] }.first
        guard let method = method(named ?? request.head.method.rawValue, service) else {
            return service.refusal(405, "no such method")
        }
        guard (method == .post) == (place.id == nil) else { return service.refusal(405, "not that way") }
        var head = HTTPRequest(method: method, scheme: nil, authority: nil, path: "/tables/\(place.table)")
        if let name = ModelCall.requestID { head.headerFields[name] = request.head.headerFields[name] }
        if let id = place.id {
            head.path = "/tables/\(place.table)/\(SimulatedService.escaped(id.text))"
            switch request.head.headerFields[.ifMatch] {
            case nil: if service.has(.wantsConditions) { return service.refusal(428, "a change has a condition") }
            case "*": break
            case let tag?:
                guard let version = service.version(of: tag) else { return service.refusal(400, "no tag of mine") }
                head.headerFields[.ifMatch] = "\"v\(version)\""
            }
        }
        var inner = SyncRequest(head)
        inner.context = request.context
        if method != .delete {
            guard let body = try? request.body.json, var fields = service.fields(of: body) else {
                return service.refusal(400, "no such properties")
            }
            if place.id == nil {
                guard let id = body[service.key]?.textID else { return service.refusal(400, "no key") }
                fields["id"] = JSON(id)
            }
            inner.body = MessageBody(json: fields)
        }
        let done = answer(inner, device, user: user, isAlone: isAlone, &state)
        var response = told(done, place.table, method, request, service)
        if let name = HTTPField.Name("Repeatability-Result") {
            response.head.headerFields[name] = done.head.headerFields[name]
        }
        return response
    }

    private func method(_ name: String, _ service: SimulatedService) -> HTTPRequest.Method? {
        switch name {
        case "POST": .post
        case "PUT": .put
        case "DELETE": .delete
        case "MERGE": service.version == .v2 && !service.has(.refusesMerge) ? .patch : nil
        case "PATCH": service.version == .v4 || service.has(.refusesMerge) ? .patch : nil
        default: nil
        }
    }

    private func told(
        _ done: SyncResponse, _ table: String, _ method: HTTPRequest.Method, _ request: SyncRequest,
        _ service: SimulatedService
    ) -> SyncResponse {
        let body = (try? done.body.json) ?? .null
        guard done.status < 300 else {
            return service.refusal(done.status == 410 ? 404 : done.status, "\(body["error"] ?? "no")")
        }
        guard done.status != 204, let version = body["__version"]?.string else {
            return done.status == 204 ? done : service.refusal(done.status, "an accident")
        }
        let prefer = Self.prefer.flatMap { request.head.headerFields[$0] } ?? ""
        // v2 returns a created row but no updated one; v4 follows the Prefer header.
        let isTold = service.version == .v2 ? method == .post : method == .post || prefer.contains("representation")
        if isTold, !service.has(.answersNothing) { return service.answer(done.status, body, table) }
        var response = SyncResponse.model(204, nil)
        if !service.has(.hidesTags) { response.head.headerFields[.eTag] = version }
        if method == .post {
            let address = "\(SimulatedService.root)/\(service.address(body["id"]?.textID ?? "", table))"
            response.head.headerFields[.location] = address
            if let name = Self.entityID, service.version == .v4 { response.head.headerFields[name] = address }
        }
        return response
    }
}

/// Batches of `multipart/mixed` as the simulated service reads and answers them. It shares no code with the client's.
enum ServiceMultipart {
    /// The service's answer to one request or to a change set.
    struct ServiceAnswer {
        var id: String
        var group: String?
        var response: SyncResponse
        /// Whether it is the answer to a whole change set, which failed.
        var isReason = false
    }

    /// Returns the requests of a batch; nil for bytes that are no batch.
    static func batch(_ bytes: [UInt8], _ type: String) -> ModelBatch? {
        guard let boundary = mark(of: type) else { return nil }
        var parts: [ModelBatch.Part] = []
        for (index, outer) in split(bytes[...], boundary).enumerated() {
            let (fields, content) = head(outer)
            if let inner = fields["content-type"].flatMap({ mark(of: $0) }) {
                for change in split(content, inner) {
                    guard let part = part(change, group: "set\(index)") else { return nil }
                    parts.append(part)
                }
            } else {
                guard let part = part(outer, group: nil) else { return nil }
                parts.append(part)
            }
        }
        return parts.count <= 100 ? ModelBatch(parts: parts) : nil
    }

    /// Returns the boundary that a media type names.
    private static func mark(of type: String) -> String? {
        guard type.hasPrefix("multipart/mixed"), let mark = type.firstRange(of: "boundary=") else { return nil }
        return String(type[mark.upperBound...].prefix { $0 != ";" }.filter { $0 != "\"" })
    }

    /// Returns the parts between the boundary lines.
    private static func split(_ bytes: ArraySlice<UInt8>, _ boundary: String) -> [ArraySlice<UInt8>] {
        let line = Array("--\(boundary)".utf8)
        var parts: [ArraySlice<UInt8>] = []
        var rest = bytes
        var isFirst = true
        while let found = rest.firstRange(of: line) {
            if !isFirst { parts.append(rest[..<found.lowerBound].dropLast(2)) }
            isFirst = false
            rest = rest[found.upperBound...]
            if rest.starts(with: "--".utf8) { break }
            rest = rest.dropFirst(2)
        }
        return parts
    }

    private static func head(_ bytes: ArraySlice<UInt8>) -> (fields: [String: String], rest: ArraySlice<UInt8>) {
        guard let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else { return ([:], bytes) }
        var fields: [String: String] = [:]
        for line in String(decoding: bytes[..<end.lowerBound], as: UTF8.self).split(separator: "\r\n") {
            guard let colon = line.firstIndex(of: ":") else { continue }
            fields[line[..<colon].lowercased()] = String(line[line.index(after: colon)...].drop { $0 == " " })
        }
        return (fields, bytes[end.upperBound...])
    }

    private static func part(_ bytes: ArraySlice<UInt8>, group: String?) -> ModelBatch.Part? {
        let (outer, content) = head(bytes)
        let (fields, body) = head(content)
        let line = String(decoding: content.prefix { $0 != UInt8(ascii: "\r") }, as: UTF8.self).split(separator: " ")
        guard outer["content-type"] == "application/http", line.count == 3, let id = outer["content-id"],
            let method = HTTPRequest.Method(String(line[0]))
        else { return nil }
        var head = HTTPRequest(method: method, scheme: nil, authority: nil, path: "/\(line[1])")
        for (name, value) in fields {
            if let name = HTTPField.Name(name), HTTPField.isValidValue(value) { head.headerFields[name] = value }
        }
        return ModelBatch.Part(
            id: id, group: group, dependsOn: [], request: SyncRequest(head, body: MessageBody(bytes: Array(body))))
    }

    /// Returns the service's answers: for a failed change set only the first reason, or in JSON all of them.
    static func told(
        _ answers: [(id: String, response: SyncResponse)], of batch: ModelBatch, isJSON: Bool, failsAtOnce: Bool
    ) -> [ServiceAnswer] {
        let all = zip(answers, batch.parts).map { ServiceAnswer(id: $0.id, group: $1.group, response: $0.response) }
        let failed = Set(all.filter { $0.response.status >= 300 }.compactMap(\.group))
        if isJSON, !failsAtOnce { return all }
        var explained: Set<String> = []
        return all.compactMap { told in
            guard let group = told.group, failed.contains(group) else { return told }
            guard told.response.status != 424, explained.insert(group).inserted else { return nil }
            return ServiceAnswer(id: told.id, group: group, response: told.response, isReason: failsAtOnce)
        }
    }

    static func answer(_ told: [ServiceAnswer]) -> SyncResponse {
        var bytes: [UInt8] = []
        var index = 0
        while index < told.count {
            bytes += "--outer\r\n".utf8
            guard let group = told[index].group, !told[index].isReason else {
                bytes += text(told[index])
                index += 1
                continue
            }
            bytes += "Content-Type: multipart/mixed; boundary=inner\r\n\r\n".utf8
            while index < told.count, told[index].group == group {
                bytes += "--inner\r\n".utf8
                bytes += text(told[index])
                index += 1
            }
            bytes += "--inner--\r\n\r\n".utf8
        }
        var response = SyncResponse.model(202, nil)
        response.head.headerFields[.contentType] = "multipart/mixed; boundary=outer"
        response.body = MessageBody(bytes: bytes + Array("--outer--\r\n".utf8))
        return response
    }

    private static func text(_ told: ServiceAnswer) -> [UInt8] {
        let body = told.response.body.bytes
        var head =
            "Content-Type: application/http\r\nContent-Transfer-Encoding: binary\r\nContent-ID: \(told.id)\r\n\r\n"
        head += "HTTP/1.1 \(told.response.status) Answer\r\n"
        for field in told.response.head.headerFields { head += "\(field.name.rawName): \(field.value)\r\n" }
        head += "Content-Length: \(body.count)\r\n\r\n"
        return Array(head.utf8) + body + Array("\r\n".utf8)
    }
}

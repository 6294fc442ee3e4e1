internal import HTTPTypes
internal import SluiceCore
internal import SluiceOData

extension SimulatedServer {
    private static let csrf = HTTPField.Name("X-CSRF-Token")
    private static let tunnels = ["X-HTTP-Method", "X-HTTP-Method-Override"].compactMap { HTTPField.Name($0) }
    private static let prefer = HTTPField.Name("Prefer")
    private static let entityID = HTTPField.Name("OData-EntityId")

    /// Answers a request as an OData service.
    func serve(_ request: Request, _ service: SimulatedService, _ device: Int, user: Int, _ state: inout State)
        -> Response
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

    /// The table and id of an address below the root; nil for any other.
    private func place(_ path: Substring) -> (table: String, id: RecordID?)? {
        let text = ModelCall.decode(path.dropFirst())
        guard text.utf8.last == UInt8(ascii: ")") else { return (text, nil) }
        // By bytes: an id may begin with a mark that Swift joins to the quote.
        guard let open = text.utf8.firstIndex(of: UInt8(ascii: "(")) else { return nil }
        let inner = text.utf8[text.utf8.index(after: open)...].dropLast()
        guard inner.count >= 2, inner.first == UInt8(ascii: "'"), inner.last == UInt8(ascii: "'") else { return nil }
        let id = String(decoding: inner.dropFirst().dropLast(), as: UTF8.self)
        return (String(text[..<open]), .string(id.replacing("''", with: "'")))
    }

    private func read(_ request: Request, _ service: SimulatedService, _ state: inout State) -> Response {
        let path = request.head.path ?? "/"
        guard let place = place(path.prefix { $0 != "?" }), state.tables[place.table] != nil else {
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

    /// Carries a change out as the server of the tables wire does, and answers as the service.
    private func change(
        _ request: Request, _ service: SimulatedService, _ device: Int, user: Int, isAlone: Bool, _ state: inout State
    ) -> Response {
        let path = (request.head.path ?? "/").prefix { $0 != "?" }
        guard let place = place(path), state.tables[place.table] != nil else {
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
        var inner = Request(head)
        inner.context = request.context
        if method != .delete {
            guard let body = try? request.body.json, var fields = service.fields(of: body) else {
                return service.refusal(400, "no such properties")
            }
            if place.id == nil {
                guard let id = body[service.key]?.textID else { return service.refusal(400, "no key") }
                fields["id"] = JSON(id)
            }
            inner.body = Body(json: fields)
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
        _ done: Response, _ table: String, _ method: HTTPRequest.Method, _ request: Request, _ service: SimulatedService
    ) -> Response {
        let body = (try? done.body.json) ?? .null
        guard done.status < 300 else {
            return service.refusal(done.status == 410 ? 404 : done.status, "\(body["error"] ?? "no")")
        }
        guard done.status != 204, let version = body["__version"]?.string else {
            return done.status == 204 ? done : service.refusal(done.status, "an accident")
        }
        let prefer = Self.prefer.flatMap { request.head.headerFields[$0] } ?? ""
        // v2 gives the row that was made and no row that was changed; v4 does as it is asked.
        let isTold = service.version == .v2 ? method == .post : method == .post || prefer.contains("representation")
        if isTold, !service.has(.answersNothing) { return service.answer(done.status, body, table) }
        var response = Response.model(204, nil)
        if !service.has(.hidesTags) { response.head.headerFields[.eTag] = version }
        if method == .post {
            let address = "\(SimulatedService.root)/\(service.address(body["id"]?.textID ?? "", table))"
            response.head.headerFields[.location] = address
            if let name = Self.entityID, service.version == .v4 { response.head.headerFields[name] = address }
        }
        return response
    }
}

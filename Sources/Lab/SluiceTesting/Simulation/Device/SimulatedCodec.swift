internal import HTTPTypes
internal import SluiceCore

/// A codec of the application: the properties that it writes have another form between its filters and the server.
///
/// The transport takes the form off again, so that the world knows local values alone, and demands it of every request.
struct SimulatedCodec: RequestFilter, RecordShaper {
    let fields: SimulatedFields
    let takesPages = true

    /// The codec of a story that has one.
    static func filters(_ setting: SimulationSetting) -> [any RequestFilter] {
        setting.translates ? [SimulatedCodec(fields: setting.fields)] : []
    }

    func recordShape(of table: String) -> String? { "simulated" }

    func handle(_ request: SyncRequest, next: RequestFilter.Next) async throws -> SyncResponse {
        var sent = request
        sent.context.untranslated = nil
        if request.head.method != .get, let body = try? request.body.json, body.kind == .object {
            let members = body.members ?? []
            let own = members.filter { fields.isOne($0.name) && !$0.value.isNull }
            sent.body = MessageBody(json: mapped(body, Self.coded))
            if !own.isEmpty { sent.context.untranslated = JSON(members: own) }
        }
        var response = try await next(sent)
        if let body = try? response.body.json { response.body = MessageBody(json: mapped(body, Self.plain)) }
        return response
    }

    /// Returns a request with local values; nil if it has one without the form.
    func received(_ request: SyncRequest) -> SyncRequest? {
        guard let body = try? request.body.json else { return request }
        if holdsPlain(body) { return nil }
        var request = request
        request.body = MessageBody(json: mapped(body, Self.plain))
        return request
    }

    /// Returns an answer in the form of the server.
    func answered(_ response: SyncResponse) -> SyncResponse {
        guard let body = try? response.body.json else { return response }
        var response = response
        response.body = MessageBody(json: mapped(body, Self.coded))
        return response
    }

    private static func coded(_ value: JSON) -> JSON {
        value.isNull ? value : JSON((value.kind == .number ? "n" : "t") + (value.string ?? value.description))
    }

    private static func plain(_ value: JSON) -> JSON {
        guard let text = value.string, let mark = text.first else { return value }
        let rest = String(text.dropFirst())
        return mark == "n" ? (try? JSON(parsing: rest)) ?? value : mark == "t" ? JSON(rest) : value
    }

    private func holdsPlain(_ json: JSON) -> Bool {
        (json.elements ?? []).contains(where: holdsPlain)
            || (json.members ?? []).contains { name, value in
                fields.isOne(name) ? !value.isNull && Self.plain(value) == value : holdsPlain(value)
            }
    }

    private func mapped(_ json: JSON, _ change: (JSON) -> JSON) -> JSON {
        if let elements = json.elements { return JSON(elements.map { mapped($0, change) }) }
        guard let members = json.members else { return json }
        return JSON(
            members: members.map { name, value in
                (name, fields.isOne(name) ? change(value) : mapped(value, change))
            })
    }
}

internal import HTTPTypes
internal import SluiceCore

/// The codecs of all plugins, as the link of the chain below the plugins and the application's filters beside them.
///
/// The server's side of it has the server's values, everything above it the local ones. A request passes with all of its
/// values translated, or it is not sent; so does an answer.
struct CodecFilter: RequestFilter, RecordShaper {
    let codecs: [FieldCodec]
    let dialect: Dialect

    func recordShape(of table: String) -> String? {
        let shapes = codecs.filter { !$0.names(in: table).isEmpty }.compactMap(\.shape)
        return shapes.isEmpty ? nil : shapes.joined(separator: "\n")
    }

    /// It holds nothing while it waits for the answer.
    var takesPages: Bool { true }

    func handle(_ request: SyncRequest, next: RequestFilter.Next) async throws -> SyncResponse {
        guard let table = request.context.table else { return try await next(request) }
        let codecs = codecs.filter { !$0.names(in: table).isEmpty }
        if codecs.isEmpty { return try await next(request) }
        var sent = request
        try await CodecQuery(codecs: codecs, table: table, style: dialect.odata).translate(&sent)
        try await translateBody(&sent, codecs, table)
        return try await translated(try await next(sent), to: request, codecs, table)
    }

    private func translateBody(_ request: inout SyncRequest, _ codecs: [FieldCodec], _ table: String) async throws {
        request.context.untranslated = nil
        guard request.head.method != .get, !request.body.isEmpty else { return }
        guard let body = try? request.body.json, body.kind == .object || body.kind == .array else {
            throw SluiceError(
                .filter, "plugin \(codecs[0].name): the body is no JSON, so that its fields cannot be translated",
                table: table, recordID: request.context.recordID, operationID: request.context.operationID)
        }
        var records = body.elements ?? [body]
        for codec in codecs {
            records = try await codec.translated(
                records, .toWire, in: table, idColumn: dialect.columns.id, about: request)
        }
        request.body = MessageBody(json: body.kind == .array ? JSON(records) : records[0])
        guard body.kind == .object else { return }
        let names = codecs.flatMap { $0.names(in: table).sorted() }
        let kept = names.compactMap { name in body[name].map { (name, $0) } }
        request.context.untranslated = kept.isEmpty ? nil : JSON(members: kept)
    }

    /// Returns the answer with local values: of a record, of a page's rows, or of the record of a conflict.
    private func translated(
        _ response: SyncResponse, to request: SyncRequest, _ codecs: [FieldCodec], _ table: String
    ) async throws -> SyncResponse {
        let isSuccess = 200..<300 ~= response.status
        guard isSuccess || [409, 412].contains(response.status), !response.body.isEmpty else { return response }
        guard let body = try? response.body.json else {
            // The engine refuses such an answer too, but it may take the rows of a page that can be read.
            let page = try? dialect.page(in: response, for: request.context, requiresIDs: false, setsAside: true)
            guard isSuccess, request.context.action == .read, page != nil else { return response }
            throw SluiceError(
                .brokenProtocol, "plugin \(codecs[0].name): the page is no valid JSON, so that it cannot be translated",
                table: table, status: response.status)
        }
        let isList = request.context.action == .read
        let rows = isList ? dialect.shape.rows.first { body[$0]?.kind == .array } : nil
        guard body.kind == .array || rows != nil || !isList && body.kind == .object else { return response }
        let given = body.elements ?? rows.flatMap { body[$0]?.elements } ?? [body]
        var records = given
        for codec in codecs {
            records = try await codec.translated(
                records, .fromWire, in: table, idColumn: dialect.columns.id, about: request)
        }
        if records == given { return response }
        var response = response
        if body.kind == .array {
            response.body = MessageBody(json: JSON(records))
        } else if let rows {
            var page = body
            page[rows] = JSON(records)
            response.body = MessageBody(json: page)
        } else {
            response.body = MessageBody(json: records[0])
        }
        return response
    }
}

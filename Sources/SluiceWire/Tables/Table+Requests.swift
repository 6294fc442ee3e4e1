internal import HTTPTypes
internal import SluiceBase

/// How a table's requests are sent, and what their answers come to.
extension Table {
    /// Sends a request as one of this table's.
    ///
    /// - Returns: what was sent into the chain, and the answer.
    func send(_ request: Request, _ parameters: RequestParameters = [:]) async throws -> (Request, Response) {
        var request = request
        request.append(try parameters.validated(table: name))
        request.context.features.formUnion(kind)
        request.context.systemProperties = systemProperties.map { dialect.selection(of: $0) }
        do {
            return (request, try await client.send(request))
        } catch var error as SluiceError {
            // A transport need not know what the request is about.
            error.table = error.table ?? name
            error.recordID = error.recordID ?? request.context.recordID
            throw error
        }
    }

    /// The record of the answer; nil where it has none by right.
    func record(_ request: Request, _ parameters: RequestParameters) async throws -> JSON? {
        let (request, response) = try await send(request, parameters)
        do {
            return try dialect.record(in: response, for: request.context)
        } catch {
            throw error.with(exchange(request, response))
        }
    }

    /// The server's record after a change. A server that answers without one (204) has taken what was sent; its version
    /// is then that of the entity tag, or unknown.
    func changed(_ request: Request, _ parameters: RequestParameters, sent: JSON) async throws -> JSON {
        let (request, response) = try await send(request, parameters)
        do {
            if let record = try dialect.record(in: response, for: request.context) { return record }
        } catch {
            throw error.with(exchange(request, response))
        }
        var record = sent
        let version = response.head.headerFields[.eTag].flatMap { ETag($0).version }
        record[dialect.columns.version] = version.map { JSON($0) }
        return record
    }

    /// The page of the answer to a list.
    func page(_ request: Request, _ parameters: RequestParameters, after previous: PageCursor?) async throws
        -> TablePage<JSON>
    {
        let (request, response) = try await send(request, parameters)
        do throws(SluiceError) {
            let page = try dialect.page(in: response, for: request.context, requiresIDs: false)
            let wanted = max(0, request.context.paging.remaining ?? page.rows.count)
            return TablePage(
                rows: page.rows.indices.prefix(wanted).map { page.record(at: $0) }, count: page.count,
                cursor: try PageCursor.after(page, response, to: request, previous: previous, client: client))
        } catch {
            throw error.with(exchange(request, response))
        }
    }

    private func exchange(_ request: Request, _ response: Response) -> Exchange {
        Exchange(request, response, dialect, systemProperties ?? .all)
    }
}

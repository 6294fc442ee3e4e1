internal import HTTPTypes
internal import SluiceBase

/// Identifies the client to the server: the wire's own header fields, the client's kind and version, the installation,
/// on Mobile Services the application's key, and the features that the request uses.
///
/// The fields go only to the endpoint's own origin; a field that is already set stays. The filter comes after the
/// user's filters. So none of them sees the key, and none that sends a request elsewhere takes it along.
struct ClientHeaders: RequestTransform {
    let dialect: Dialect
    let endpoint: Endpoint
    let applicationKey: Secret?
    let installationID: String?

    func request(_ request: SyncRequest) throws -> SyncRequest {
        guard endpoint.isOrigin(of: request.head) else { return request }
        var request = request
        var fields = dialect.headers
        fields += [("X-ZUMO-VERSION", dialect.agent.text), ("User-Agent", dialect.agent.text)]
        if let installationID { fields.append(("X-ZUMO-INSTALLATION-ID", installationID)) }
        if dialect.sendsApplicationKey {
            // Without a key too, because the field marks this wire.
            fields.append(("X-ZUMO-APPLICATION", applicationKey?.text ?? ""))
        }
        if dialect.reportsFeatures {
            let features = features(of: request).description
            if !features.isEmpty { fields.append(("X-ZUMO-FEATURES", features)) }
        }
        for (name, value) in fields {
            guard let field = HTTPField.Name(name), request.head.headerFields[field] == nil else { continue }
            guard HTTPField.isValidValue(value) else {
                throw SluiceError(.invalidArgument, "the value for \(name) holds characters that a header field cannot")
            }
            request.head.headerFields[field] = value
        }
        return request
    }

    /// Returns the request's own features and the detected ones. A push of a record counts as a request of an untyped
    /// table.
    private func features(of request: SyncRequest) -> SyncRequest.Features {
        var features = request.context.features
        if request.context.source != .online { features.insert(.offline) }
        if request.context.source == .push, ![.read, .lookup].contains(request.context.action) {
            features.insert(.untypedTable)
        }
        if request.head.headerFields[.ifMatch] != nil { features.insert(.concurrency) }
        if hasParameters(request.head.path ?? "") { features.insert(.queryParameters) }
        return features
    }

    /// Whether the query has a parameter that is not OData's, not the endpoint's own, and no marker of the wire.
    private func hasParameters(_ path: String) -> Bool {
        let own = Set(endpoint.query.split(separator: "&"))
        return QueryString(ofPath: path).parts.contains { part in
            let name = QueryString.name(of: part).lowercased()
            return !name.hasPrefix("$") && !own.contains(part[...])
                && name != "__systemproperties" && name != "zumo-api-version"
        }
    }
}

/// Gives every request an id in `X-Correlation-ID`, which connects logs of client and server. All attempts of a
/// request carry one id; a request that has one keeps it.
struct CorrelationID: RequestTransform {
    static let field = HTTPField.Name("X-Correlation-ID")
    let makeID: @Sendable () -> String

    func request(_ request: SyncRequest) -> SyncRequest {
        guard let field = Self.field, request.head.headerFields[field] == nil else { return request }
        var request = request
        request.head.headerFields[field] = makeID()
        return request
    }
}

/// Keeps the credentials of requests out of errors.
///
/// The filter is at both ends of the chain. At the inner end it sees the credentials that filters have set, and the
/// answer before any other filter. At the outer end it sees the filters' own errors and answers.
struct HideCredentials: PageFilter {
    let book: CredentialBook
    /// The wire's name of the id, by which a record is recognised in an answer.
    let idColumn: PropertyName
    /// Whether the filter is at the inner end, where all filters have set their credentials.
    let isInnermost: Bool

    func handle(_ page: RequestPage, next: RequestPage.Next) async -> RequestPage.Answers {
        var page = page
        for index in page.requests.indices {
            book.note(page.requests[index].head)
            page.requests[index].context.credentials = isInnermost ? nil : book
        }
        let answers = await next(page)
        // Other requests may have pushed this one's credentials out in between.
        for request in page.requests { book.note(request.head) }
        return zip(answers, page.requests).map { answer, request in
            switch answer {
            case .success(let response):
                .success(book.hiding(response, to: request.context, idColumn: idColumn))
            case .failure(let error as SluiceError): .failure(book.hiding(error))
            case .failure: answer
            }
        }
    }
}

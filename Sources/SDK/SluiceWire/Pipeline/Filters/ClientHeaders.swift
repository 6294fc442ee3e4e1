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

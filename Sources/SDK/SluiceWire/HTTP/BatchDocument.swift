package import HTTPTypes
package import SluiceBase

/// A batch as JSON (OData JSON Format 4.01, section 19): an object with `requests`, and one with their `responses`.
package enum BatchDocument {
    /// The last segment of the path that batches are sent to.
    package static let name = "$batch"
    /// The most requests of one batch.
    package static let mostParts = 100

    /// A request of a batch. Its names and its place are checked, its content is not.
    package struct Part: Sendable {
        package let id: String
        /// The atomicity group, applied all or nothing; nil for none.
        package let group: String?
        /// The requests and groups before it that must have succeeded.
        package let dependsOn: [String]
        package let method: String?
        package let url: String?
        package let headers: JSON?
        /// The body; nil for none and for null.
        package let body: JSON?
    }

    /// The reason for refusing a document.
    package struct Fault: Error {
        package let reason: String
    }

    // MARK: Writing

    /// Returns a request for the list of `requests`, with a body if it is JSON.
    package static func request(
        _ id: String, group: String?, _ request: SyncRequest, url: String, fields: [HTTPField]
    ) -> JSON {
        var json: JSON = ["id": JSON(id), "method": JSON(request.head.method.rawValue), "url": JSON(url)]
        if let group { json["atomicityGroup"] = JSON(group) }
        json["headers"] = headers(fields)
        if !request.body.isEmpty, let body = try? request.body.json { json["body"] = body }
        return json
    }

    /// Returns an answer for the list of `responses`.
    package static func answer(_ id: String, group: String?, _ status: Int, fields: [HTTPField], body: JSON?) -> JSON {
        var json: JSON = ["id": JSON(id)]
        if let group { json["atomicityGroup"] = JSON(group) }
        json["status"] = JSON(status)
        json["headers"] = headers(fields)
        if let body { json["body"] = body }
        return json
    }

    private static func headers(_ fields: [HTTPField]) -> JSON {
        JSON(members: fields.map { (name: $0.name.canonicalName, value: JSON($0.value)) })
    }

    // MARK: Reading answers

    /// Returns the answers of a document, each with its id, and nil for one without a possible status; nil for a
    /// document without a list of them.
    package static func answers(of document: JSON?) -> [(id: String?, response: SyncResponse?)]? {
        document?["responses"]?.elements?.map { ($0["id"]?.string, response($0)) }
    }

    private static func response(_ element: JSON) -> SyncResponse? {
        guard let status = element["status"]?.int.flatMap({ Int(exactly: $0) }), (200...599).contains(status) else {
            return nil
        }
        let body = element["body"].flatMap { $0.isNull ? nil : MessageBody(json: $0) }
        return SyncResponse(
            HTTPResponse(status: .init(code: status), headerFields: fields(element["headers"])), body: body ?? .empty)
    }

    /// Returns the header fields of an element, without those that are not valid.
    package static func fields(_ headers: JSON?) -> HTTPFields {
        var fields = HTTPFields()
        for (name, value) in headers?.members ?? [] {
            guard let name = HTTPField.Name(name.text), let value = value.string, HTTPField.isValidValue(value) else {
                continue
            }
            fields.append(HTTPField(name: name, value: value))
        }
        return fields
    }
}

// MARK: - Reading requests

extension BatchDocument {
    /// Returns the requests of a document, in their order.
    ///
    /// - Throws: ``Fault`` for a document that is no batch, for too many requests, for two of one name, for a group
    ///   that others interrupt, and for a dependency on something that is not before the request.
    package static func parts(of document: JSON?) throws(Fault) -> [Part] {
        guard let elements = document?["requests"]?.elements else {
            throw Fault(reason: "a batch is an object with an array, requests")
        }
        guard elements.count <= mostParts else { throw Fault(reason: "a batch has \(mostParts) requests at the most") }
        var (parts, known): ([Part], Set<String>) = ([], [])
        for (index, element) in elements.enumerated() {
            guard let id = element["id"]?.string, !id.isEmpty else {
                throw Fault(reason: "request \(index) of the batch has no id, which is a text")
            }
            let group = try group(of: element, id)
            if let group, parts.last?.group != group, !known.insert(group).inserted {
                throw Fault(reason: "the requests of the atomicity group \(group) do not follow each other")
            }
            guard known.insert(id).inserted else { throw Fault(reason: "two requests or groups are called \(id)") }
            let dependsOn = try dependencies(of: element, id)
            for name in dependsOn where !known.contains(name) || name == id || name == group {
                throw Fault(reason: "\(id) depends on \(name), which is no request or group before it")
            }
            parts.append(
                Part(
                    id: id, group: group, dependsOn: dependsOn, method: element["method"]?.string,
                    url: element["url"]?.string, headers: element["headers"],
                    body: element["body"].flatMap { $0.isNull ? nil : $0 }))
        }
        return parts
    }

    private static func group(of element: JSON, _ id: String) throws(Fault) -> String? {
        guard let value = element["atomicityGroup"], !value.isNull else { return nil }
        guard let name = value.string, !name.isEmpty else {
            throw Fault(reason: "the atomicityGroup of \(id) is no text")
        }
        return name
    }

    private static func dependencies(of element: JSON, _ id: String) throws(Fault) -> [String] {
        guard let value = element["dependsOn"], !value.isNull else { return [] }
        let names = (value.elements ?? []).compactMap(\.string)
        guard let count = value.elements?.count, count == names.count, count <= mostParts else {
            throw Fault(reason: "dependsOn of \(id) is no array of ids")
        }
        return names
    }
}

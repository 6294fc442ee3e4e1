internal import HTTPTypes
internal import SluiceCore

/// A batch of requests (OData JSON Format 4.01, section 19): `POST /tables/$batch`.
struct BatchRequest: Sendable {
    /// The path segment in place of a table's name.
    static let name = "$batch"
    /// The most requests of one batch.
    static let mostParts = 100

    /// One of the requests.
    struct Part: Sendable {
        var id: String
        /// The atomic group of the request; nil for none.
        var group: String?
        /// The requests and groups that must have succeeded.
        var dependsOn: [String]
        /// The request, or the refusal of an unreadable one.
        var request: Result<Request, Refusal>
    }

    let parts: [Part]

    /// Reads the requests. A mistake in one of them refuses only that one.
    ///
    /// - Parameter reading: makes a request of an element, inside or outside of a group.
    /// - Throws: ``Refusal`` (400) for an invalid batch as a whole.
    init(
        _ document: JSON, reading: (_ element: JSON, _ isInGroup: Bool) throws(Refusal) -> Request
    ) throws(Refusal) {
        guard let elements = document["requests"]?.elements else {
            throw Self.refusal("a batch is an object with an array, requests")
        }
        guard elements.count <= Self.mostParts else {
            throw Self.refusal("a batch has \(Self.mostParts) requests at the most")
        }
        var (parts, known): ([Part], Set<String>) = ([], [])
        for (index, element) in elements.enumerated() {
            guard let id = element["id"]?.string, !id.isEmpty else {
                throw Self.refusal("request \(index) of the batch has no id, which is a text")
            }
            let group = try Self.group(of: element, id)
            if let group, parts.last?.group != group, !known.insert(group).inserted {
                throw Self.refusal("the requests of the atomicity group \(group) do not follow each other")
            }
            guard known.insert(id).inserted else { throw Self.refusal("two requests or groups are called \(id)") }
            let dependsOn = try Self.dependencies(of: element, id)
            for name in dependsOn where !known.contains(name) || name == id || name == group {
                throw Self.refusal("\(id) depends on \(name), which is no request or group before it")
            }
            parts.append(
                Part(
                    id: id, group: group, dependsOn: dependsOn,
                    request: Result { () throws(Refusal) in try reading(element, group != nil) }))
        }
        self.parts = parts
    }

    private static func group(of element: JSON, _ id: String) throws(Refusal) -> String? {
        switch element["atomicityGroup"] {
        case nil, .some(.null): return nil
        case .some(let value):
            guard let name = value.string, !name.isEmpty else {
                throw refusal("the atomicityGroup of \(id) is no text")
            }
            return name
        }
    }

    private static func dependencies(of element: JSON, _ id: String) throws(Refusal) -> [String] {
        switch element["dependsOn"] {
        case nil, .some(.null): return []
        case .some(let value):
            let names = (value.elements ?? []).compactMap(\.string)
            guard let count = value.elements?.count, count == names.count, count <= mostParts else {
                throw refusal("dependsOn of \(id) is no array of ids")
            }
            return names
        }
    }

    private static func refusal(_ reason: String) -> Refusal { Refusal(.badRequest, reason) }
}

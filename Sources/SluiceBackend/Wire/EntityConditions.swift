internal import HTTPTypes
internal import SluiceCore

/// The conditions of a request on a record's version (RFC 9110, section 13.1).
struct EntityConditions: Sendable {
    private let ifMatch: [String]
    private let ifNoneMatch: [String]

    init(_ headers: HTTPFields) {
        ifMatch = headers[values: .ifMatch]
        ifNoneMatch = headers[values: .ifNoneMatch]
    }

    /// Whether there is an `If-Match`.
    var expectsVersion: Bool { !ifMatch.isEmpty }

    /// Whether `If-Match` allows a change of a record that has this version. `*` does; one strong tag does if it is
    /// the version; several tags, weak ones and what is no tag match nothing.
    func allow(_ version: String) -> Bool {
        guard let field = ifMatch.first, ifMatch.count == 1 else { return ifMatch.isEmpty }
        return field == "*" || Self.version(field) == version
    }

    /// Whether `If-None-Match` says that the client has this version.
    func isKnown(_ version: String) -> Bool {
        ifNoneMatch.flatMap { $0.split(separator: ",") }.contains { field in
            let tag = field.drop { $0 == " " }
            // Reading compares weakly.
            return tag == "*" || Self.version(String(tag.hasPrefix("W/") ? tag.dropFirst(2) : tag)) == version
        }
    }

    private static func version(_ field: String) -> String? {
        guard field.hasPrefix("\""), field.hasSuffix("\""), field.count > 1 else { return nil }
        return ETag(field).version
    }
}

public import HTTPTypes
package import SluiceBase
internal import SluiceWire

/// Options of a change, given by the application besides its content.
///
/// ```swift
/// try await todos.update(changes, options: OperationOptions(tags: ["urgent"]))
/// try await ledger.insert(entry, options: OperationOptions(isMergeable: false))
/// ```
public struct OperationOptions: Sendable, Hashable {
    /// The tags kept with the operation. Filters see them in the request's context, and a push may select operations
    /// by a tag. A change merged into a waiting one adds its tags. Up to 32, each 1 to 255 characters.
    public var tags: Set<String>
    /// Header fields of the change's request, kept until it is sent. A change merged into a waiting one adds its
    /// fields, and replaces those of the same name. Up to 16, of 8,000 bytes in all. Fields for credentials are
    /// refused, because a filter of the client adds them to each request. So are fields that HTTP or the protocol
    /// gives a meaning.
    public var headers: HTTPFields
    /// Whether the change may be merged into a waiting one, and later ones into it. If false, it reaches the server
    /// unchanged, in its own request.
    public var isMergeable: Bool

    /// Options; each has a default.
    public init(tags: Set<String> = [], headers: HTTPFields = [:], isMergeable: Bool = true) {
        self.tags = tags
        self.headers = headers
        self.isMergeable = isMergeable
    }

    func validate(table: String) throws(SluiceError) {
        guard tags.count <= 32, tags.allSatisfy({ (1...255).contains($0.unicodeScalars.count) }) else {
            throw SluiceError(
                .invalidArgument, "an operation has up to 32 tags, each of 1 to 255 characters", table: table)
        }
        try validateHeaders(table: table)
    }

    /// Checks the header fields alone, for a change that is sent at once.
    package func validateHeaders(table: String) throws(SluiceError) {
        let size = headers.reduce(0) { $0 + $1.name.rawName.utf8.count + $1.value.utf8.count }
        guard headers.count <= 16, size <= 8_000 else {
            throw SluiceError(
                .invalidArgument, "an operation has up to 16 header fields, of 8,000 bytes in all", table: table)
        }
        if let field = headers.first(where: { !CredentialNames.mayBelongToApplication($0.name) }) {
            throw SluiceError(
                .invalidArgument,
                "the header field \(field.name) is no operation's own: HTTP, the protocol or a filter of the client sets it",
                table: table)
        }
    }
}

extension HTTPFields {
    /// Returns these fields with the others, which replace fields of the same name.
    func replacing(_ others: HTTPFields) -> HTTPFields {
        var fields = self
        for name in Set(others.map(\.name)) { fields[fields: name] = others[fields: name] }
        return fields
    }

    /// The fields as an object, for display.
    package var document: JSON {
        JSON(members: map { (PropertyName($0.name.canonicalName), JSON($0.value)) })
    }

    /// The fields as pairs of name and value, for the queue.
    var json: JSON { JSON(map { JSON([JSON($0.name.canonicalName), JSON($0.value)]) }) }

    /// Reads fields from such pairs; nil if one is not valid.
    init?(json: JSON?) {
        self.init()
        for pair in json?.elements ?? [] {
            guard let parts = pair.elements, parts.count == 2,
                let name = parts[0].string.flatMap({ HTTPField.Name($0) }),
                let value = parts[1].string, HTTPField.isValidValue(value)
            else { return nil }
            append(HTTPField(name: name, value: value))
        }
    }
}

public import HTTPTypes
package import SluiceBase
internal import SluiceWire

/// Options of a change: what the application gives with it besides its content.
///
/// ```swift
/// try await todos.update(changes, options: OperationOptions(tags: ["urgent"]))
/// try await ledger.insert(entry, options: OperationOptions(isMergeable: false))
/// ```
public struct OperationOptions: Sendable, Hashable {
    /// Kept with the operation: filters see them in the request's context, and a push may be of those with a tag alone.
    /// A change that becomes part of one that waits adds its tags. Up to 32, each 1 to 255 characters.
    public var tags: Set<String>
    /// Header fields that go out with the change's request, whenever that is. A change that becomes part of one that waits
    /// adds its own, in place of those of the same name. Up to 16, of 8,000 bytes in all. None of credentials, which a
    /// filter of the client adds to each request, nor any that HTTP or the protocol gives a meaning.
    public var headers: HTTPFields
    /// Whether the change may become part of one that waits, and later ones part of it. One that may not reaches the
    /// server as it was made, in an own request.
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
    /// These fields, and others in place of those of the same name.
    func replacing(_ others: HTTPFields) -> HTTPFields {
        var fields = self
        for name in Set(others.map(\.name)) { fields[fields: name] = others[fields: name] }
        return fields
    }

    /// As an object, for people.
    package var document: JSON {
        JSON(members: map { (PropertyName($0.name.canonicalName), JSON($0.value)) })
    }

    /// As pairs of name and value, for the queue.
    var json: JSON { JSON(map { JSON([JSON($0.name.canonicalName), JSON($0.value)]) }) }

    /// The fields that such pairs stand for; nil if one is not valid.
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

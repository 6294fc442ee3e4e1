/// The name of a record's property: of a column, or of a member of any JSON object.
///
/// Two names are equal only if their bytes are: the composed and the decomposed form of a letter name two properties. A
/// string literal is a name, and ``JSON`` accepts a `String` as a name too.
public struct PropertyName: BytewiseText {
    /// The name itself.
    public let text: String

    /// A name.
    public init(_ text: String) { self.text = text }
}

/// The names that a wire gives to a record's id and to the properties that only the server sets.
package struct SystemColumns: Sendable, Hashable {
    package let id: PropertyName
    /// The name of the server's version.
    package let version: PropertyName
    /// The name of the time of the last change.
    package let updatedAt: PropertyName
    /// The name of the mark that is `true` in a tombstone.
    package let deleted: PropertyName
    /// The name of the time of creation; nil on a wire without one.
    package let createdAt: PropertyName?
    /// The names that only the server sets, in a fixed order.
    package let ofServer: [PropertyName]
    /// All names that only the server sets, except for the id.
    package let system: Set<PropertyName>

    package init(
        id: PropertyName = "id", version: PropertyName = "version", updatedAt: PropertyName = "updatedAt",
        deleted: PropertyName = "deleted", createdAt: PropertyName? = "createdAt"
    ) {
        self.id = id
        self.version = version
        self.updatedAt = updatedAt
        self.deleted = deleted
        self.createdAt = createdAt
        ofServer = [version, updatedAt, deleted] + (createdAt.map { [$0] } ?? [])
        system = Set(ofServer)
    }

    /// Whether only the server sets the property of that name.
    package func isSystem(_ name: PropertyName) -> Bool {
        name == version || name == updatedAt || name == deleted || name == createdAt
    }

    /// The id and the names that only the server sets.
    package var all: Set<PropertyName> { system.union([id]) }
}

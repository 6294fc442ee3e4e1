internal import SluiceCore
internal import SluiceOData

/// A table in OData's model: an entity set with a type of the same name.
struct EntitySet: Sendable {
    /// A property declared in `$metadata`.
    struct Property: Sendable {
        /// The name, as an identifier of OData.
        var name: String
        /// The record's property.
        var column: PropertyName
        var type: EdmPrimitive
        /// Whether only the server sets it.
        var isComputed = false
        /// Whether it may hold any JSON: v2 writes it as a text, v4 as an undeclared property.
        var isJSON = false
    }

    /// A navigation property: the other side of a reference.
    struct Link: Sendable {
        var name: String
        /// The column with the id: this table's for a single-valued link, else the target's.
        var column: PropertyName
        var isCollection: Bool
        /// The target's set.
        var target: String
        /// The inverse link; nil if there is none.
        var partner: String?
        /// The name of v2's association, one for both directions.
        var association: String
    }

    /// The name in addresses.
    let name: String
    let table: BackendTable
    let properties: [Property]
    let links: [Link]

    var key: Property { properties[0] }
    /// Whether ids are numbers assigned by the server.
    var hasIntegerIDs: Bool { table.rules.ids == .integer }

    func property(_ name: String) -> Property? { properties.first { $0.name == name } }
    func property(of column: PropertyName) -> Property? { properties.first { $0.column == column } }
    func link(_ name: String) -> Link? { links.first { $0.name == name } }

    /// The columns with ids of other records.
    var referenceColumns: [PropertyName] { links.filter { !$0.isCollection }.map(\.column) }

    /// Returns a key for the parentheses of an address, not percent-encoded.
    func predicate(_ id: RecordID, _ version: ServiceVersion) -> String {
        if hasIntegerIDs { return id.text + (version == .v2 ? "L" : "") }
        return "'" + id.text.replacing("'", with: "''") + "'"
    }

    /// An entity's address as one decoded segment.
    func keyed(_ id: RecordID, _ version: ServiceVersion) -> String { "\(name)(\(predicate(id, version)))" }

    /// An entity's address below the service's root, percent-encoded.
    func address(_ id: RecordID, _ version: ServiceVersion) -> String {
        "\(PercentEncoding.segment(name))(\(PercentEncoding.query(predicate(id, version), keeping: "'")))"
    }

    /// Reads the key in the parentheses of an address; nil for an invalid key of the set.
    func id(predicate: String) -> RecordID? {
        var text = predicate[...]
        if text.hasPrefix(key.name + "=") { text = text.dropFirst(key.name.count + 1) }
        if hasIntegerIDs {
            if text.last == "L" || text.last == "l" { text = text.dropLast() }
            guard let number = Int64(text), number > 0 else { return nil }
            return .string(String(number))
        }
        guard text.utf8.count > 2, text.utf8.first == UInt8(ascii: "'"), text.utf8.last == UInt8(ascii: "'") else {
            return nil
        }
        let inner = text.dropFirst().dropLast().split(separator: "''", omittingEmptySubsequences: false)
        guard !inner.contains(where: { $0.utf8.contains(UInt8(ascii: "'")) }) else { return nil }
        return .string(inner.joined(separator: "'"))
    }
}

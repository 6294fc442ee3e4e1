internal import SluiceBase

/// The system properties that a type declares, with their names there: `version`, or `__version` in a type that was
/// made for Mobile Services.
///
/// The type declares them by its coding keys. It is asked to decode itself, and a Codable type first asks for a
/// container by its keys. There the attempt ends, before any property is read. Nothing is guessed from an instance,
/// and none is made. A type that asks for no keys counts as declaring all. JSON declares none: it has the wire's names.
package struct DeclaredProperties: Sendable, Hashable {
    package let names: [SystemProperty: String]
    /// The values that the type gives to a record without the properties; see ``SyncRecord/defaults``.
    let defaults: JSON?

    package init(of type: (some Decodable).Type) {
        if type == JSON.self {
            (names, defaults) = ([:], nil)
            return
        }
        defaults = (type as? any SyncRecord.Type)?.encodedDefaults
        let probe = CodingKeyProbe()
        _ = try? type.init(from: probe)
        guard let accepts = probe.accepts else {
            names = Dictionary(uniqueKeysWithValues: SystemProperty.allCases.map { ($0, $0.rawValue) })
            return
        }
        let declared = SystemProperty.allCases.compactMap { property in
            [property.rawValue, "__\(property.rawValue)"].first(where: accepts).map { (property, $0) }
        }
        names = Dictionary(uniqueKeysWithValues: declared)
    }
}

extension SyncRecord {
    fileprivate static var encodedDefaults: JSON? { defaults.flatMap { try? JSONRecordEncoder().encode($0) } }
}

/// A decoder that learns the names of a type's keys, and decodes nothing.
private final class CodingKeyProbe: Decoder {
    private struct Done: Error {}

    private(set) var accepts: ((String) -> Bool)?

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        if accepts == nil { accepts = { Key(stringValue: $0) != nil } }
        throw Done()
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw Done() }
    func singleValueContainer() throws -> any SingleValueDecodingContainer { throw Done() }
}

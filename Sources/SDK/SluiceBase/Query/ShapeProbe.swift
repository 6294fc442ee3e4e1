/// A decoder that gives each type a value without a meaning, and notes the keys that a type asks for.
final class ShapeProbe: Decoder {
    /// The keys with the types of their values, in the order of the questions.
    private(set) var keys: [(name: String, type: any Decodable.Type)] = []

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(Keyed<Key>(probe: self))
    }

    func unkeyedContainer() -> any UnkeyedDecodingContainer { Unkeyed() }

    func singleValueContainer() -> any SingleValueDecodingContainer { Single() }

    /// Returns the type of columns for a Swift type.
    static func columnType(of type: any Decodable.Type) -> TableSchema.ColumnType {
        switch type {
        case is Bool.Type: .boolean
        case is any BinaryInteger.Type: .integer
        case is any BinaryFloatingPoint.Type: .real
        case is any StringProtocol.Type: .string
        case let type as any JSONSingleValue.Type: texts.first { type.init(json: $0.value) != nil }?.type ?? .json
        case let type as any (RawRepresentable & Decodable).Type: rawType(of: type)
        default: .json
        }
    }

    private static func rawType<Value: RawRepresentable & Decodable>(of type: Value.Type) -> TableSchema.ColumnType {
        (Value.RawValue.self as? any Decodable.Type).map { columnType(of: $0) } ?? .json
    }

    /// Values of all kinds that single values are read from, with the types of their columns.
    private static let texts: [(value: JSON, type: TableSchema.ColumnType)] = [
        ("", .string), ("00000000-0000-0000-0000-000000000000", .string), (0, .real), ("2000-01-01T00:00:00Z", .date),
    ]

    /// Returns any value of the type.
    ///
    /// - Throws: the type's own error if none is found.
    fileprivate static func value<Value: Decodable>(_ type: Value.Type) throws -> Value {
        if let single = type as? any JSONSingleValue.Type {
            for text in texts { if let value = single.init(json: text.value) as? Value { return value } }
        }
        if let cases = type as? any CaseIterable.Type, let first = first(of: cases) as? Value { return first }
        return try Value(from: ShapeProbe())
    }

    private static func first<Value: CaseIterable>(of type: Value.Type) -> Value? { type.allCases.first }

    private struct Keyed<Key: CodingKey>: KeyedDecodingContainerProtocol {
        let probe: ShapeProbe

        var codingPath: [any CodingKey] { [] }
        var allKeys: [Key] { [] }

        func contains(_ key: Key) -> Bool { true }
        func decodeNil(forKey key: Key) -> Bool { false }

        func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
            probe.keys.append((key.stringValue, type))
            return try ShapeProbe.value(type)
        }

        func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
            probe.keys.append((key.stringValue, type))
            return nil
        }

        func nestedContainer<Nested: CodingKey>(
            keyedBy type: Nested.Type, forKey key: Key
        ) -> KeyedDecodingContainer<Nested> {
            probe.keys.append((key.stringValue, JSON.self))
            return ShapeProbe().container(keyedBy: type)
        }

        func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedDecodingContainer {
            probe.keys.append((key.stringValue, JSON.self))
            return Unkeyed()
        }

        func superDecoder() -> any Decoder { probe }
        func superDecoder(forKey key: Key) -> any Decoder { ShapeProbe() }
    }

    /// An empty list.
    private struct Unkeyed: UnkeyedDecodingContainer {
        var codingPath: [any CodingKey] { [] }
        var count: Int? { 0 }
        var isAtEnd: Bool { true }
        var currentIndex: Int { 0 }

        func decodeNil() -> Bool { true }
        func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try ShapeProbe.value(type) }
        func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedDecodingContainer<Nested> {
            ShapeProbe().container(keyedBy: type)
        }
        func nestedUnkeyedContainer() -> any UnkeyedDecodingContainer { self }
        func superDecoder() -> any Decoder { ShapeProbe() }
    }

    private struct Single: SingleValueDecodingContainer {
        var codingPath: [any CodingKey] { [] }

        func decodeNil() -> Bool { false }
        func decode(_ type: Bool.Type) -> Bool { false }
        func decode(_ type: String.Type) -> String { "" }
        func decode(_ type: Double.Type) -> Double { 0 }
        func decode(_ type: Float.Type) -> Float { 0 }
        func decode(_ type: Int.Type) -> Int { 0 }
        func decode(_ type: Int8.Type) -> Int8 { 0 }
        func decode(_ type: Int16.Type) -> Int16 { 0 }
        func decode(_ type: Int32.Type) -> Int32 { 0 }
        func decode(_ type: Int64.Type) -> Int64 { 0 }
        func decode(_ type: UInt.Type) -> UInt { 0 }
        func decode(_ type: UInt8.Type) -> UInt8 { 0 }
        func decode(_ type: UInt16.Type) -> UInt16 { 0 }
        func decode(_ type: UInt32.Type) -> UInt32 { 0 }
        func decode(_ type: UInt64.Type) -> UInt64 { 0 }
        func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try ShapeProbe.value(type) }
    }
}

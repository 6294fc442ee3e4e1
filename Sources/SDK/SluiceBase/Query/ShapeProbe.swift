/// Two documents that a type can be decoded from, for ``RecordShape``.
///
/// `RecordShape` holds the samples of its type, so the shape of a part is in a box.
struct ShapeSamples: Sendable {
    /// A document without a meaning.
    let plain: JSON
    /// Another one, from which another value is decoded; nil if none is known.
    let other: JSON?
    /// The shape, of a type with keys of its own.
    var shape: RecordShape? { box.first }
    private var box: [RecordShape] = []

    init(plain: JSON, other: JSON?, shape: RecordShape? = nil) {
        (self.plain, self.other) = (plain, other)
        box = shape.map { [$0] } ?? []
    }

    /// Values of all kinds, two of each.
    private static let values: [JSON] = [
        "", "a", "00000000-0000-0000-0000-000000000000", "11111111-1111-1111-1111-111111111111",
        "2000-01-01T00:00:00Z", "2001-01-01T00:00:00Z", 0, 1, false, true, [], [""], [0], [false],
        ["2000-01-01T00:00:00Z"],
        ["00000000-0000-0000-0000-000000000000"], [[]],
    ]

    /// - Throws: ``SluiceError`` of code `invalidArgument` if no sample is found.
    init<Value: Decodable>(of type: Value.Type, depth: Int) throws(SluiceError) {
        var found: [(document: JSON, text: String)] = []
        for document in Self.values + Self.cases(of: type) where found.count < 2 {
            guard let value = try? JSONRecordDecoder().decode(type, from: document) else { continue }
            let text = String(reflecting: value)
            if text != found.first?.text { found.append((document, text)) }
        }
        if let plain = found.first {
            self.init(plain: plain.document, other: found.count > 1 ? found[1].document : nil)
            return
        }
        guard depth < RecordShape.mostDepth else { throw SluiceError(.invalidArgument, "\(type) is too deep") }
        let shape = try RecordShape(type, depth: depth + 1)
        self.init(plain: shape.samples.plain, other: shape.samples.other, shape: shape)
    }

    /// Returns the documents of an enumeration's cases.
    private static func cases(of type: any Decodable.Type) -> [JSON] {
        (type as? any CaseIterable.Type).map { documents($0) } ?? []
    }

    private static func documents<Value: CaseIterable>(_ type: Value.Type) -> [JSON] {
        type.allCases.prefix(2).compactMap { value in
            (value as? any Encodable).flatMap { try? JSONRecordEncoder().encode($0) }
        }
    }
}

/// A decoder that gives each key a sample, and notes the keys that a type asks for.
final class ShapeProbe: Decoder {
    /// A key, as the type has asked for it.
    struct Key {
        let name: PropertyName
        let type: any Decodable.Type
        /// Whether the type has no value without it.
        let isRequired: Bool
        let samples: ShapeSamples?

        /// The type of a column with such values.
        var columnType: TableSchema.ColumnType { ShapeProbe.columnType(of: type, samples) }
    }

    /// The keys in the order of the questions.
    private(set) var keys: [Key] = []
    private let depth: Int

    init(depth: Int) { self.depth = depth }

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Name: CodingKey>(keyedBy type: Name.Type) -> KeyedDecodingContainer<Name> {
        KeyedDecodingContainer(Keyed<Name>(probe: self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw Self.keyless }
    func singleValueContainer() throws -> any SingleValueDecodingContainer { throw Self.keyless }

    fileprivate static let keyless = SluiceError(.invalidArgument, "the type does not decode itself by keys alone")

    fileprivate func note<Value: Decodable>(_ type: Value.Type, _ key: any CodingKey, isRequired: Bool) throws -> JSON?
    {
        let samples = Result { () throws(SluiceError) in try ShapeSamples(of: type, depth: depth) }
        keys.append(
            Key(
                name: PropertyName(key.stringValue), type: type, isRequired: isRequired, samples: try? samples.get()))
        return isRequired ? try samples.get().plain : nil
    }

    private static func columnType(of type: any Any.Type, _ samples: ShapeSamples?) -> TableSchema.ColumnType {
        if let type = type as? any RawRepresentable.Type { return rawType(of: type, samples) }
        switch type {
        case is JSON.Type: return .json
        case is any BinaryInteger.Type: return .integer
        case is any StringProtocol.Type: return .string
        default: break
        }
        return switch samples?.plain.kind {
        case .bool: .boolean
        case .number: .real
        case .string: samples?.plain.string.flatMap { Timestamp($0) } == nil ? .string : .date
        default: .json
        }
    }

    private static func rawType<Value: RawRepresentable>(
        of type: Value.Type, _ samples: ShapeSamples?
    ) -> TableSchema.ColumnType { columnType(of: Value.RawValue.self, samples) }

    private struct Keyed<Name: CodingKey>: KeyedDecodingContainerProtocol {
        let probe: ShapeProbe

        var codingPath: [any CodingKey] { [] }
        var allKeys: [Name] { [] }

        func contains(_ key: Name) -> Bool { true }
        func decodeNil(forKey key: Name) -> Bool { false }

        func decode<Value: Decodable>(_ type: Value.Type, forKey key: Name) throws -> Value {
            try JSONRecordDecoder().decode(type, from: probe.note(type, key, isRequired: true) ?? .null)
        }

        func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Name) throws -> Value? {
            _ = try probe.note(type, key, isRequired: false)
            return nil
        }

        func nestedContainer<Nested: CodingKey>(
            keyedBy type: Nested.Type, forKey key: Name
        ) throws -> KeyedDecodingContainer<Nested> { throw ShapeProbe.keyless }
        func nestedUnkeyedContainer(forKey key: Name) throws -> any UnkeyedDecodingContainer {
            throw ShapeProbe.keyless
        }
        func superDecoder() throws -> any Decoder { throw ShapeProbe.keyless }
        func superDecoder(forKey key: Name) throws -> any Decoder { throw ShapeProbe.keyless }
    }
}

/// The decoder of one value, and the container of a value that is no list of others.
struct JSONValueDecoder: Decoder, SingleValueDecodingContainer {
    let value: JSON
    let codingPath: [any CodingKey]
    let sharedInfo: [CodingUserInfoKey: any Sendable]

    var userInfo: [CodingUserInfoKey: Any] { sharedInfo }

    init(value: JSON, codingPath: [any CodingKey], userInfo: [CodingUserInfoKey: any Sendable]) {
        self.value = value
        self.codingPath = codingPath
        self.sharedInfo = userInfo
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard value.kind == .object else { throw mismatch([String: JSON].self, "an object") }
        return KeyedDecodingContainer(JSONKeyedDecoding<Key>(decoder: self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard value.kind == .array else { throw mismatch([JSON].self, "an array") }
        return JSONUnkeyedDecoding(decoder: self)
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { self }

    func decodeNil() -> Bool { value.isNull }

    func decode<Value: JSONScalar>(_ type: Value.Type) throws -> Value { try Value(reading: self) }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try read(type) }

    /// The decoder of a value inside this one.
    func inner(_ value: JSON, _ key: any CodingKey) -> JSONValueDecoder {
        JSONValueDecoder(value: value, codingPath: codingPath + [key], userInfo: sharedInfo)
    }

    func mismatch(_ type: any Any.Type, _ expected: String) -> DecodingError {
        let context = DecodingError.Context(
            codingPath: codingPath, debugDescription: "expected \(expected), found \(value.kind)")
        return value.isNull ? .valueNotFound(type, context) : .typeMismatch(type, context)
    }

    func unfit(_ type: any Any.Type) -> DecodingError {
        .dataCorrupted(
            .init(codingPath: codingPath, debugDescription: "the number \(value) does not fit \(type)"))
    }
}

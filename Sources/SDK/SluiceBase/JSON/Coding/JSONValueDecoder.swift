/// The decoder of one value, and the container of a value without elements or members.
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

    /// Returns the decoder of a value inside this one.
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

/// The elements of an array, for a type that reads them in order.
struct JSONUnkeyedDecoding: UnkeyedDecodingContainer {
    let decoder: JSONValueDecoder
    private(set) var currentIndex = 0

    init(decoder: JSONValueDecoder) { self.decoder = decoder }

    var codingPath: [any CodingKey] { decoder.codingPath }
    var count: Int? { decoder.value.count }
    var isAtEnd: Bool { currentIndex >= decoder.value.count }

    mutating func decodeNil() throws -> Bool {
        let isNull = try element(JSON?.self).value.isNull
        if isNull { currentIndex += 1 }
        return isNull
    }

    mutating func decode<Value: JSONScalar>(_ type: Value.Type) throws -> Value {
        try next(type) { try Value(reading: $0) }
    }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try next(type) { try $0.read(type) }
    }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) throws -> KeyedDecodingContainer<Nested> {
        try next([String: JSON].self) { try $0.container(keyedBy: type) }
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try next([JSON].self) { try $0.unkeyedContainer() }
    }

    mutating func superDecoder() throws -> any Decoder { try next(JSON.self) { $0 } }

    /// Moves on only if `body` succeeds, so that a caller may try another type.
    private mutating func next<Result>(
        _ type: any Any.Type, _ body: (JSONValueDecoder) throws -> Result
    ) throws -> Result {
        let result = try body(element(type))
        currentIndex += 1
        return result
    }

    private func element(_ type: any Any.Type) throws -> JSONValueDecoder {
        let key = JSONCodingKey(index: currentIndex)
        guard let value = decoder.value[currentIndex] else {
            throw DecodingError.valueNotFound(
                type, .init(codingPath: codingPath + [key], debugDescription: "the array ends here"))
        }
        return decoder.inner(value, key)
    }
}

/// The members of an object, for a type that reads them by name.
struct JSONKeyedDecoding<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let decoder: JSONValueDecoder

    var codingPath: [any CodingKey] { decoder.codingPath }
    var allKeys: [Key] { decoder.value.names.compactMap { Key(stringValue: $0.text) } }

    func contains(_ key: Key) -> Bool { decoder.value[key.stringValue] != nil }

    func decodeNil(forKey key: Key) throws -> Bool { try member(key).decodeNil() }

    func decode<Value: JSONScalar>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try Value(reading: try member(key))
    }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        if decoder.value[key.stringValue]?.isNull ?? true, let type = type as? any EmptyCollection.Type,
            let empty = type.init() as? Value
        {
            return empty
        }
        return try member(key).read(type)
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        try member(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try member(key).unkeyedContainer()
    }

    /// Returns the decoder of the member `super`, or of `null` if there is none, because a superclass may need nothing.
    func superDecoder() throws -> any Decoder {
        decoder.inner(decoder.value[JSONCodingKey.super.stringValue] ?? .null, JSONCodingKey.super)
    }

    func superDecoder(forKey key: Key) throws -> any Decoder {
        decoder.inner(decoder.value[key.stringValue] ?? .null, key)
    }

    private func member(_ key: Key) throws -> JSONValueDecoder {
        guard let value = decoder.value[key.stringValue] else {
            throw DecodingError.keyNotFound(
                key, .init(codingPath: codingPath, debugDescription: "no member “\(key.stringValue)”"))
        }
        return decoder.inner(value, key)
    }
}

/// A type with an empty value for a record that lacks the property: to have none of something is to have an empty list
/// of it.
private protocol EmptyCollection { init() }

extension Array: EmptyCollection {}
extension Set: EmptyCollection {}
extension Dictionary: EmptyCollection {}

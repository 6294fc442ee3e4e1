/// The elements of an array, for a type that asks for them in order.
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

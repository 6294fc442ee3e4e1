/// The members of an object, for a type that asks for them by name.
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

    /// The decoder of the member `super`; of `null` where there is none, as a superclass may want nothing.
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

/// A type of which a record that lacks the property has the empty value: to have none of something is to have an empty
/// list of it.
private protocol EmptyCollection { init() }

extension Array: EmptyCollection {}
extension Set: EmptyCollection {}
extension Dictionary: EmptyCollection {}

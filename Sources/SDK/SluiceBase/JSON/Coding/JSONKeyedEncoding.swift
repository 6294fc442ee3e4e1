/// The members of an object, for a type that writes them by name.
struct JSONKeyedEncoding<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let encoder: JSONValueEncoder

    var codingPath: [any CodingKey] { encoder.codingPath }

    func encodeNil(forKey key: Key) { set(.null, key) }

    func encode<Value: JSONScalar>(_ value: Value, forKey key: Key) throws {
        set(try encoder.scalar(value, codingPath + [key]), key)
    }

    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
        set(try encoder.part(value, key), key)
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        place(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { place(key).unkeyedContainer() }

    func superEncoder() -> any Encoder { place(JSONCodingKey.super) }

    func superEncoder(forKey key: Key) -> any Encoder { place(key) }

    func set(_ value: JSON, _ key: any CodingKey) { encoder.node.set(value, for: key, at: codingPath) }

    private func place(_ key: any CodingKey) -> JSONValueEncoder {
        encoder.inner(encoder.node.node(for: key, at: codingPath), key)
    }
}

/// Properties that may be nil: left out, or written as null if the encoder's setting says so.
///
/// Every scalar has a method of its own, because the protocol's own ones would take precedence over a generic one.
extension JSONKeyedEncoding {
    func encodeIfPresent(_ value: Bool?, forKey key: Key) throws { try write(value, key) }
    func encodeIfPresent(_ value: String?, forKey key: Key) throws { try write(value, key) }
    func encodeIfPresent(_ value: Double?, forKey key: Key) throws { try write(value, key) }
    func encodeIfPresent(_ value: Float?, forKey key: Key) throws { try write(value, key) }
    func encodeIfPresent(_ value: Int?, forKey key: Key) throws { try write(value, key) }
    func encodeIfPresent(_ value: Int8?, forKey key: Key) throws { try write(value, key) }
    func encodeIfPresent(_ value: Int16?, forKey key: Key) throws { try write(value, key) }
    func encodeIfPresent(_ value: Int32?, forKey key: Key) throws { try write(value, key) }
    func encodeIfPresent(_ value: Int64?, forKey key: Key) throws { try write(value, key) }
    func encodeIfPresent(_ value: UInt?, forKey key: Key) throws { try write(value, key) }
    func encodeIfPresent(_ value: UInt8?, forKey key: Key) throws { try write(value, key) }
    func encodeIfPresent(_ value: UInt16?, forKey key: Key) throws { try write(value, key) }
    func encodeIfPresent(_ value: UInt32?, forKey key: Key) throws { try write(value, key) }
    func encodeIfPresent(_ value: UInt64?, forKey key: Key) throws { try write(value, key) }

    func encodeIfPresent<Value: Encodable>(_ value: Value?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) } else if encoder.writesNulls { set(.null, key) }
    }

    private func write(_ value: (some JSONScalar)?, _ key: Key) throws {
        if let value { try encode(value, forKey: key) } else if encoder.writesNulls { set(.null, key) }
    }
}

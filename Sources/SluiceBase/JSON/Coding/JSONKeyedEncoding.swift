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

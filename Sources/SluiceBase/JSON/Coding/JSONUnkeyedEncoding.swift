/// The elements of an array, for a type that writes them in order.
struct JSONUnkeyedEncoding: UnkeyedEncodingContainer {
    let encoder: JSONValueEncoder

    var codingPath: [any CodingKey] { encoder.codingPath }
    var count: Int { encoder.node.count }

    func encodeNil() { encoder.node.append(.null) }

    func encode<Value: JSONScalar>(_ value: Value) throws {
        encoder.node.append(try encoder.scalar(value, codingPath + [key]))
    }

    func encode<Value: Encodable>(_ value: Value) throws { encoder.node.append(try encoder.part(value, key)) }

    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
        place().container(keyedBy: type)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { place().unkeyedContainer() }

    func superEncoder() -> any Encoder { place() }

    private var key: JSONCodingKey { JSONCodingKey(index: count) }

    private func place() -> JSONValueEncoder {
        let key = key
        return encoder.inner(encoder.node.appendNode(), key)
    }
}

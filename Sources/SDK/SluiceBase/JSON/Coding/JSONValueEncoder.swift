/// The encoder of one value, and the container of a value without elements or members.
struct JSONValueEncoder: Encoder, SingleValueEncodingContainer {
    let node: JSONEncodingNode
    let codingPath: [any CodingKey]
    let sharedInfo: [CodingUserInfoKey: any Sendable]

    var userInfo: [CodingUserInfoKey: Any] { sharedInfo }

    /// The key that tells all encoders of a document that ``JSONRecordEncoder/writesNulls`` is set.
    static let nullsKey = CodingUserInfoKey(rawValue: "sluice.writesNulls")
    var writesNulls: Bool { Self.nullsKey.map { sharedInfo[$0] != nil } ?? false }

    init(node: JSONEncodingNode, codingPath: [any CodingKey], userInfo: [CodingUserInfoKey: any Sendable]) {
        self.node = node
        self.codingPath = codingPath
        self.sharedInfo = userInfo
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        node.becomeObject()
        return KeyedEncodingContainer(JSONKeyedEncoding<Key>(encoder: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        node.becomeArray()
        return JSONUnkeyedEncoding(encoder: self)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }

    func encodeNil() { node.set(.null) }

    func encode<Value: JSONScalar>(_ value: Value) throws { node.set(try scalar(value, codingPath)) }

    func encode<Value: Encodable>(_ value: Value) throws { try write(value) }

    /// Returns the encoder of a value inside this one.
    func inner(_ node: JSONEncodingNode, _ key: any CodingKey) -> JSONValueEncoder {
        JSONValueEncoder(node: node, codingPath: codingPath + [key], userInfo: sharedInfo)
    }

    /// Returns `value`, the member or element at `key`, as JSON.
    func part(_ value: some Encodable, _ key: any CodingKey) throws -> JSON {
        let encoder = inner(JSONEncodingNode(), key)
        guard codingPath.count < JSON.maximumDepth else {
            throw EncodingError.invalidValue(
                value,
                .init(
                    codingPath: encoder.codingPath,
                    debugDescription: "nested deeper than \(JSON.maximumDepth) levels"))
        }
        try encoder.write(value)
        return try encoder.node.finish() ?? .object
    }

    func scalar(_ value: some JSONScalar, _ path: @autoclosure () -> [any CodingKey]) throws -> JSON {
        guard let json = value.json else {
            throw EncodingError.invalidValue(
                value, .init(codingPath: path(), debugDescription: "JSON has no word for \(value)"))
        }
        return json
    }
}

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

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

/// Properties that may be nil: left out, or written as null where the encoder is told so.
///
/// Every scalar has a method of its own, since the protocol's own ones for them would count before a generic one.
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

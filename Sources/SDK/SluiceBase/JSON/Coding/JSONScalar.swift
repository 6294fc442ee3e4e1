/// A type whose values are single JSON values, which the coders read and write themselves.
protocol JSONScalar: Codable {
    /// - Throws: `DecodingError` if the value is of another kind or does not fit.
    init(reading decoder: JSONValueDecoder) throws

    /// The value as JSON, or nil if JSON cannot express it.
    var json: JSON? { get }
}

extension Bool: JSONScalar {
    init(reading decoder: JSONValueDecoder) throws {
        guard let value = decoder.value.bool else { throw decoder.mismatch(Bool.self, "true or false") }
        self = value
    }

    var json: JSON? { JSON(self) }
}

extension String: JSONScalar {
    init(reading decoder: JSONValueDecoder) throws {
        guard let value = decoder.value.string else { throw decoder.mismatch(String.self, "text") }
        self = value
    }

    var json: JSON? { JSON(self) }
}

extension JSONScalar where Self: FixedWidthInteger {
    init(reading decoder: JSONValueDecoder) throws {
        guard let number = decoder.value.number else { throw decoder.mismatch(Self.self, "a number") }
        guard let value: Self = number.integer() else { throw decoder.unfit(Self.self) }
        self = value
    }

    var json: JSON? {
        if let value = Int64(exactly: self) { return JSON(value) }
        return JSON.Number(text: String(self)).map { JSON($0) }
    }
}

extension Int: JSONScalar {}
extension Int8: JSONScalar {}
extension Int16: JSONScalar {}
extension Int32: JSONScalar {}
extension Int64: JSONScalar {}
extension UInt: JSONScalar {}
extension UInt8: JSONScalar {}
extension UInt16: JSONScalar {}
extension UInt32: JSONScalar {}
extension UInt64: JSONScalar {}

extension Double: JSONScalar {
    init(reading decoder: JSONValueDecoder) throws {
        guard let number = decoder.value.number else { throw decoder.mismatch(Double.self, "a number") }
        guard number.double.isFinite else { throw decoder.unfit(Double.self) }
        self = number.double
    }

    var json: JSON? { JSON.Number(self).map { JSON($0) } }
}

extension Float: JSONScalar {
    /// Reads the number's text, because rounding to a double first could round twice.
    init(reading decoder: JSONValueDecoder) throws {
        guard let number = decoder.value.number else { throw decoder.mismatch(Float.self, "a number") }
        guard let value = Float(number.description), value.isFinite else { throw decoder.unfit(Float.self) }
        self = value
    }

    /// The number by its own shortest digits: 0.1, not 0.10000000149011612 of the double.
    var json: JSON? { JSON.Number(text: description).map { JSON($0) } }
}

/// A type of another library that is one value in documents, whatever its own `Codable` conformance writes.
///
/// The core does not use Foundation, so it cannot name `Date`. The coders check each value for this protocol, and a
/// module that knows the type conforms it: SluicePredicate for Foundation's.
package protocol JSONSingleValue {
    /// The required form of the value, for an error: `the text of a time`.
    static var expectation: String { get }

    /// Creates the value from `json`; nil if it has another form.
    init?(json: JSON)

    /// The value as JSON, or nil if JSON cannot express it.
    var json: JSON? { get }
}

extension JSONValueEncoder {
    /// Writes a value of any type in its document form.
    func write(_ value: some Encodable) throws {
        guard let single = value as? any JSONSingleValue else { return try writeMembers(of: value) }
        guard let json = single.json else {
            // Names the type: Foundation cannot even describe a date that is NaN.
            throw EncodingError.invalidValue(
                type(of: value),
                .init(codingPath: codingPath, debugDescription: "JSON has no word for this \(type(of: value))"))
        }
        node.set(json)
    }
}

extension JSONValueDecoder {
    /// Reads a value of any type from its document form.
    func read<Value: Decodable>(_ type: Value.Type) throws -> Value {
        guard let single = type as? any JSONSingleValue.Type else { return try Value(from: self) }
        guard let value = single.init(json: self.value) as? Value else {
            throw mismatch(type, single.expectation)
        }
        return value
    }
}

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

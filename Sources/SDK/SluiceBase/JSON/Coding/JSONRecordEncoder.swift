/// Encodes typed records as documents.
///
/// ```swift
/// let document = try JSONRecordEncoder().encode(Movie(id: "id-000", year: 1994))
/// String(describing: document)     // {"id":"id-000","year":1994}
/// ```
///
/// Members keep the order in which the type writes them. Integers are exact to their full width; a `Float` is written
/// by its own digits. ``JSON`` and ``JSON.Number`` values stay exact.
public struct JSONRecordEncoder: Sendable {
    /// The values that encoded types can read from their encoder.
    public var userInfo: [CodingUserInfoKey: any Sendable] = [:]
    /// Whether a property that is nil is written as null. Default false: it is left out, as Codable types do.
    public var writesNulls = false

    /// Creates an encoder.
    public init() {}

    /// Encodes `value` as a document.
    ///
    /// - Throws: `EncodingError` for a double that is infinite or NaN, a member name with a NUL character, nesting
    ///   beyond ``JSON/maximumDepth``, and a type that writes nothing; or the type's own error.
    public func encode(_ value: some Encodable) throws -> JSON {
        let node = JSONEncodingNode()
        var userInfo = userInfo
        if writesNulls, let key = JSONValueEncoder.nullsKey { userInfo[key] = true }
        let encoder = JSONValueEncoder(node: node, codingPath: [], userInfo: userInfo)
        try encoder.write(value)
        guard let document = try node.finish() else {
            throw EncodingError.invalidValue(
                value, .init(codingPath: [], debugDescription: "\(type(of: value)) wrote no value"))
        }
        return document
    }
}

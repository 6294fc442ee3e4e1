/// Makes documents of typed records.
///
/// ```swift
/// let document = try JSONRecordEncoder().encode(Movie(id: "id-000", year: 1994))
/// String(describing: document)     // {"id":"id-000","year":1994}
/// ```
///
/// Members keep the order in which the type writes them. Integers are exact to their full width; a `Float` is written
/// by its own digits. ``JSON`` and ``JSONNumber`` pass as they are.
public struct JSONRecordEncoder: Sendable {
    /// What the encoder hands to types that ask for it.
    public var userInfo: [CodingUserInfoKey: any Sendable] = [:]
    /// Whether a property that is nil is written as null. Default false: it is left out, as Codable types do.
    public var writesNulls = false

    /// An encoder.
    public init() {}

    /// Makes a document of `value`.
    ///
    /// - Throws: `EncodingError` for a double that is infinite or no number, a member name with a NUL character,
    ///   nesting beyond ``JSON/maximumDepth``, and a type that writes nothing; and what the type throws.
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

/// Why a text is not an OData expression that Sluice reads, and where.
///
/// ```swift
/// do {
///     _ = try QueryExpression(odata: "year ge 'x")
/// } catch {
///     print(error)    // not a valid query: the text in quotes does not end (at character 8)
/// }
/// ```
public struct QuerySyntaxError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What was wrong, as a phrase.
    public let reason: String
    /// Where: the number of characters (Unicode scalars) before the place.
    public let position: Int
    /// Whether the text is OData that is understood but not run here: ``SluiceError/Code/unsupported``.
    public let isUnsupported: Bool

    /// An error at a place.
    public init(reason: String, position: Int, isUnsupported: Bool = false) {
        self.reason = reason
        self.position = position
        self.isUnsupported = isUnsupported
    }

    /// The reason and the place.
    public var description: String {
        "\(isUnsupported ? "not supported" : "not a valid query"): \(reason) (at character \(position))"
    }
}

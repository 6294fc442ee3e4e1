extension TableQuery {
    /// The reason and the position at which a text is not a readable OData expression.
    ///
    /// ```swift
    /// do {
    ///     _ = try QueryExpression(odata: "year ge 'x")
    /// } catch {
    ///     print(error)    // not a valid query: the text in quotes does not end (at character 8)
    /// }
    /// ```
    public struct SyntaxError: Error, Hashable, Sendable, CustomStringConvertible {
        /// The reason, as a phrase.
        public let reason: String
        /// The number of characters (Unicode scalars) before the error.
        public let position: Int
        /// Whether the text is valid OData that is not run here: ``SluiceError/Code/unsupported``.
        public let isUnsupported: Bool

        /// Creates an error at a position.
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
}

/// The positions of an expression's parts in its text: a tree of the expression's shape. A path has a position for each
/// of its steps, and below it those of the expressions in the step.
struct ODataPlaces: Sendable {
    /// The number of characters (Unicode scalars) before the part; for an operator, before the operator.
    var place: Int
    var operands: [ODataPlaces] = []
    /// Whether every part of the expression has this position, because the text is elsewhere, as an alias's value.
    private var isEverywhere = false

    init(place: Int, operands: [ODataPlaces] = []) {
        self.place = place
        self.operands = operands
    }

    init(everywhere place: Int) {
        self.place = place
        isEverywhere = true
    }

    subscript(operand: Int) -> ODataPlaces? {
        isEverywhere ? self : operands.indices.contains(operand) ? operands[operand] : nil
    }
}

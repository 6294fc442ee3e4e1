/// Where the parts of an expression stand in the text it was read from: a tree of the expression's shape.
struct ODataPlaces: Sendable {
    /// The number of characters (Unicode scalars) before the part; for an operator, before the operator.
    var place: Int
    var operands: [ODataPlaces] = []

    subscript(operand: Int) -> ODataPlaces? { operands.indices.contains(operand) ? operands[operand] : nil }
}

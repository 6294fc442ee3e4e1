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

/// Where the parts of an expression stand in the text it was read from: a tree of the expression's shape. A path has a
/// place for each of its steps, and in each those of the expressions in it.
struct ODataPlaces: Sendable {
    /// The number of characters (Unicode scalars) before the part; for an operator, before the operator.
    var place: Int
    var operands: [ODataPlaces] = []
    /// Whether every part of the expression has this place: it stands elsewhere, as an alias's value.
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

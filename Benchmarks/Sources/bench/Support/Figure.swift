/// A result for machines to read, one line of JSON.
struct Figure {
    /// What was measured.
    var bench: String
    /// What the value counts.
    var unit: String
    /// The figure of Sluice.
    var value: Double
    /// The figure of the C program.
    var floor: Double

    var line: String {
        #"{"bench":"\#(bench)","unit":"\#(unit)","value":\#(value.fixed(0)),"floor":\#(floor.fixed(0)),"#
            + #""ratio":\#((value / floor).fixed(2))}"#
    }
}

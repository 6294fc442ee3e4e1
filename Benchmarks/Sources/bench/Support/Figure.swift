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

    /// Prints figures for a reader, and then for machines.
    ///
    /// - Parameter unit: what their values count; nil means each its own.
    static func tell(_ figures: [Figure], in unit: String? = nil) {
        for figure in figures {
            say(
                "\(figure.bench), \(unit ?? figure.unit)".left(40) + figure.value.fixed(0).right(12)
                    + figure.floor.fixed(0).right(12) + (figure.value / figure.floor).fixed(2).right(10))
        }
        say("")
        for figure in figures { say(figure.line) }
    }
}

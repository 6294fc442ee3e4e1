/// What does not hold for an input.
package struct FuzzFinding: Error, Sendable, CustomStringConvertible {
    /// What was expected and what was found.
    package let message: String

    /// A finding.
    init(_ message: String) { self.message = message }

    /// The message.
    package var description: String { message }
}

/// Throws a finding with the message, unless `condition` is true.
func demand(_ condition: Bool, _ message: @autoclosure () -> String) throws(FuzzFinding) {
    if !condition { throw FuzzFinding(message()) }
}

extension String {
    /// Whether both are the same code points: `==` takes canonically equivalent texts for one.
    func isExactly(_ other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}

internal import Sluice

/// One result of an examination, with advice.
package struct Finding: Sendable, Hashable, JSONPrinted {
    package enum Grade: String, Sendable, Hashable, CaseIterable, Encodable {
        /// Nothing is wrong.
        case good
        /// Works, and should be looked at.
        case warning
        /// Does not work, or loses something.
        case fault
    }

    /// The area of a fault; each has its own exit code, for scripts.
    package enum Area: String, Sendable, Hashable, CaseIterable, Encodable {
        case machine, store, network, access, queue, server
    }

    package var area: Area
    /// The examined thing: `disk`, `clock`, `rows of movies`.
    package var subject: String
    package var grade: Grade
    /// The result in one sentence.
    package var text: String
    /// The next step for the operator; nil if none is needed.
    package var advice: String?

    package init(_ area: Area, _ subject: String, _ grade: Grade, _ text: String, advice: String? = nil) {
        (self.area, self.subject, self.grade, self.text, self.advice) = (area, subject, grade, text, advice)
    }
}

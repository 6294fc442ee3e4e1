package import Sluice

/// What an examination found in one place, and what to do about it.
package struct Finding: Sendable, Hashable {
    package enum Grade: String, Sendable, Hashable, CaseIterable {
        /// As it should be.
        case good
        /// Works, and should be looked at.
        case warning
        /// Does not work, or loses something.
        case fault
    }

    /// What a fault belongs to; a script learns it from the exit code.
    package enum Area: String, Sendable, Hashable, CaseIterable {
        case machine, store, network, access, queue, server
    }

    package var area: Area
    /// What was examined, as a word: `disk`, `clock`, `rows of movies`.
    package var subject: String
    package var grade: Grade
    /// What was found, in one sentence.
    package var text: String
    /// What to do; nil where nothing is to be done.
    package var advice: String?

    package init(_ area: Area, _ subject: String, _ grade: Grade, _ text: String, advice: String? = nil) {
        (self.area, self.subject, self.grade, self.text, self.advice) = (area, subject, grade, text, advice)
    }

    package var json: JSON {
        [
            "area": JSON(area.rawValue), "subject": JSON(subject), "grade": JSON(grade.rawValue), "text": JSON(text),
            "advice": advice.map { JSON($0) } ?? .null,
        ]
    }
}

/// What a pattern is compiled to: a machine whose states are all followed at once, so that a text of n characters takes
/// at most n times the number of steps, whatever the pattern is (K. Thompson, 1968).
struct TextPatternProgram: Sendable, Hashable {
    enum Step: Sendable, Hashable {
        case scalar(ScalarRanges)
        case split(Int, Int)
        case jump(Int)
        case assertion(Assertion)
        case found
    }
    /// What has to be true of a place between two characters.
    enum Assertion: Sendable, Hashable {
        case start
        case end
        case boundary(Bool)
    }
    var steps: [Step] = []

    /// Whether the pattern is found anywhere in the text.
    func isFound(in text: String) -> Bool {
        let scalars = Array(text.unicodeScalars)
        var run = Run(steps: steps, text: scalars)
        var current: [Int] = []
        for position in 0...scalars.count {
            if run.add(0, at: position, to: &current) { return true }
            guard position < scalars.count else { return false }
            var following: [Int] = []
            run.generation += 1
            for step in current {
                guard case .scalar(let ranges) = steps[step], ranges.contains(scalars[position].value) else { continue }
                if run.add(step + 1, at: position + 1, to: &following) { return true }
            }
            current = following
        }
        return false
    }

    private struct Run {
        let steps: [Step]
        let text: [Unicode.Scalar]
        var generation = 1
        private var seen: [Int]

        init(steps: [Step], text: [Unicode.Scalar]) {
            self.steps = steps
            self.text = text
            seen = Array(repeating: 0, count: steps.count)
        }

        /// Adds the steps that are reached from `step` without a character. True if the end of the pattern is.
        mutating func add(_ step: Int, at position: Int, to list: inout [Int]) -> Bool {
            var waiting = [step]
            while let step = waiting.popLast() {
                guard seen[step] != generation else { continue }
                seen[step] = generation
                switch steps[step] {
                case .found: return true
                case .scalar: list.append(step)
                case .jump(let target): waiting.append(target)
                case .split(let one, let other):
                    waiting.append(other)
                    waiting.append(one)
                case .assertion(let assertion): if holds(assertion, at: position) { waiting.append(step + 1) }
                }
            }
            return false
        }

        private func holds(_ assertion: Assertion, at position: Int) -> Bool {
            switch assertion {
            case .start: position == 0
            case .end: position == text.count
            case .boundary(let wanted): (isWord(position - 1) != isWord(position)) == wanted
            }
        }

        private func isWord(_ position: Int) -> Bool {
            text.indices.contains(position) && ScalarRanges.word.contains(text[position].value)
        }
    }
}

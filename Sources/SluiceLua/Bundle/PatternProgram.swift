/// What a pattern is compiled to: a machine whose states are all followed at once, so that a text of n characters takes
/// at most n times the number of steps, whatever the pattern is (K. Thompson, 1968).
struct PatternProgram: Sendable, Hashable {
    enum Step: Sendable, Hashable {
        case scalar(ScalarRanges)
        case split(Int, Int)
        case jump(Int)
        case start
        case end
        case found
    }
    var steps: [Step] = []

    /// Whether the pattern is found anywhere in the text.
    func isFound(in text: String) -> Bool {
        let scalars = Array(text.unicodeScalars)
        var run = Run(steps: steps, count: scalars.count)
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
        let count: Int
        var generation = 1
        private var seen: [Int]

        init(steps: [Step], count: Int) {
            self.steps = steps
            self.count = count
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
                case .start: if position == 0 { waiting.append(step + 1) }
                case .end: if position == count { waiting.append(step + 1) }
                }
            }
            return false
        }
    }
}

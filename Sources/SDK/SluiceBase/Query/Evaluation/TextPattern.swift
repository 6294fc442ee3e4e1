internal import Synchronization

/// A regular expression: the part of ECMAScript's syntax that takes linear time. It has characters, `.`, classes,
/// groups, `|`, `^`, `$`, `\b`, `*`, `+`, `?` and `{m,n}`. It matches anywhere in a text, unless it is anchored.
/// `matchesPattern` of a query (OData v4.01 part 2, 5.1.1.7.1) and `pattern` of a plugin's schema are such patterns.
///
/// Back references, lookaround and named groups are outside of the subset and refused when the pattern is read. A lazy
/// quantifier is read as the plain one, because both find the same texts.
package struct TextPattern: Sendable, Hashable {
    /// The longest pattern, in bytes.
    static let maximumLength = 1000
    /// The largest number of steps after a pattern's repetitions are written out.
    static let maximumSteps = 1000

    /// The pattern's source text.
    package let text: String
    private let program: TextPatternProgram

    /// The reason against a pattern, and the position of its character, from 1.
    package struct Refusal: Error {
        package let reason: String
        package let character: Int
        /// Whether it is a valid ECMAScript pattern outside of the subset.
        package var isUnsupported = false
    }

    package init(_ text: String) throws(Refusal) {
        guard text.utf8.count <= Self.maximumLength else {
            throw Refusal(reason: "a pattern has at most \(Self.maximumLength) bytes", character: 1)
        }
        self.text = text
        var parser = TextPatternParser(text)
        let tree = try parser.parse()
        var compiler = TextPatternCompiler()
        program = try compiler.compile(tree)
    }

    /// Whether the pattern is found in the text.
    package func matches(_ text: String) -> Bool { program.isFound(in: text) }

    /// Whether the pattern is found in the text; nil where the pattern cannot be read. Recent patterns are cached.
    static func matches(_ pattern: String, _ text: String) -> Bool? {
        let known = cache.withLock { $0[ExactName(pattern)] }
        if let known { return known?.matches(text) }
        let compiled = try? TextPattern(pattern)
        cache.withLock { cache in
            if cache.count >= 64 { cache.removeAll() }
            cache.updateValue(compiled, forKey: ExactName(pattern))
        }
        return compiled?.matches(text)
    }

    private static let cache = Mutex<[ExactName: TextPattern?]>([:])
}

/// A pattern as a tree.
indirect enum TextPatternTree {
    case empty
    case scalar(ScalarRanges)
    case assertion(TextPatternProgram.Assertion)
    case sequence([TextPatternTree])
    case choice([TextPatternTree])
    case repeated(TextPatternTree, Int, Int?)
}

/// Compiles a tree to the steps of a machine.
struct TextPatternCompiler {
    private var program = TextPatternProgram()
    private var visits = 0

    mutating func compile(_ tree: TextPatternTree) throws(TextPattern.Refusal) -> TextPatternProgram {
        try add(tree)
        try emit(.found)
        return program
    }

    private mutating func emit(_ step: TextPatternProgram.Step) throws(TextPattern.Refusal) {
        guard program.steps.count < TextPattern.maximumSteps else { throw Self.tooLarge }
        program.steps.append(step)
    }

    private static let tooLarge = TextPattern.Refusal(
        reason: "the pattern is too large once its repetitions are written out", character: 1)

    private mutating func add(_ tree: TextPatternTree) throws(TextPattern.Refusal) {
        // Repeated nested groups of nothing add no step, so the limit of steps would never stop them.
        visits += 1
        guard visits <= 10 * TextPattern.maximumSteps else { throw Self.tooLarge }
        switch tree {
        case .empty: break
        case .scalar(let ranges): try emit(.scalar(ranges))
        case .assertion(let assertion): try emit(.assertion(assertion))
        case .sequence(let trees): for tree in trees { try add(tree) }
        case .choice(let trees): try addChoice(trees[...])
        case .repeated(let tree, let least, let most):
            for _ in 0..<least { try add(tree) }
            guard let most else { return try addLoop(tree) }
            var splits: [Int] = []
            for _ in least..<most {
                splits.append(program.steps.count)
                try emit(.jump(0))
                try add(tree)
            }
            for split in splits { program.steps[split] = .split(split + 1, program.steps.count) }
        }
    }

    private mutating func addLoop(_ tree: TextPatternTree) throws(TextPattern.Refusal) {
        let split = program.steps.count
        try emit(.jump(0))
        try add(tree)
        try emit(.jump(split))
        program.steps[split] = .split(split + 1, program.steps.count)
    }

    private mutating func addChoice(_ trees: ArraySlice<TextPatternTree>) throws(TextPattern.Refusal) {
        var jumps: [Int] = []
        for (index, tree) in trees.enumerated() {
            guard index < trees.count - 1 else {
                try add(tree)
                break
            }
            let split = program.steps.count
            try emit(.jump(0))
            try add(tree)
            jumps.append(program.steps.count)
            try emit(.jump(0))
            program.steps[split] = .split(split + 1, program.steps.count)
        }
        for jump in jumps { program.steps[jump] = .jump(program.steps.count) }
    }
}

/// A compiled pattern: a machine that follows all of its states at once. So a text of n characters takes at most n
/// times the number of steps, for every pattern (K. Thompson, 1968).
struct TextPatternProgram: Sendable, Hashable {
    enum Step: Sendable, Hashable {
        case scalar(ScalarRanges)
        case split(Int, Int)
        case jump(Int)
        case assertion(Assertion)
        case found
    }
    /// A condition on a position between two characters.
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

        /// Adds the steps that `step` leads to without a character. Returns true if the pattern's end is one of them.
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

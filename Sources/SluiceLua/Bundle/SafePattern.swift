/// A regular expression of a subset that takes linear time: characters, `.`, classes, groups, `|`, `^`, `$`, `*`, `+`,
/// `?` and `{m,n}`. It is found anywhere in a text, unless it is anchored.
///
/// References back, looking around, lazy quantifiers and named groups are outside of the subset and refused when the
/// pattern is read.
struct SafePattern: Sendable, Hashable {
    /// The longest pattern, in bytes.
    static let maximumLength = 500
    /// How many steps a pattern may have once its repetitions are written out.
    static let maximumSteps = 500

    /// The pattern as it was written.
    let text: String
    private let program: PatternProgram

    /// Why a text is no pattern of the subset, and at which of its characters, from 1.
    struct Refusal: Error {
        let reason: String
        let character: Int
    }

    init(_ text: String) throws(Refusal) {
        guard text.utf8.count <= Self.maximumLength else {
            throw Refusal(reason: "a pattern has at most \(Self.maximumLength) bytes", character: 1)
        }
        self.text = text
        var parser = PatternParser(text)
        let tree = try parser.parse()
        var compiler = PatternCompiler()
        program = try compiler.compile(tree)
    }

    /// Whether the pattern is found in the text.
    func matches(_ text: String) -> Bool { program.isFound(in: text) }
}

/// A pattern as a tree.
indirect enum PatternTree {
    case empty
    case scalar(ScalarRanges)
    case start
    case end
    case sequence([PatternTree])
    case choice([PatternTree])
    case repeated(PatternTree, Int, Int?)
}

/// Writes a tree as the steps of a machine.
struct PatternCompiler {
    private var program = PatternProgram()
    private var visits = 0

    mutating func compile(_ tree: PatternTree) throws(SafePattern.Refusal) -> PatternProgram {
        try add(tree)
        try emit(.found)
        return program
    }

    private mutating func emit(_ step: PatternProgram.Step) throws(SafePattern.Refusal) {
        guard program.steps.count < SafePattern.maximumSteps else { throw Self.tooLarge }
        program.steps.append(step)
    }

    private static let tooLarge = SafePattern.Refusal(
        reason: "the pattern is too large once its repetitions are written out", character: 1)

    private mutating func add(_ tree: PatternTree) throws(SafePattern.Refusal) {
        // Groups of nothing, repeated inside each other, write no step and would never end.
        visits += 1
        guard visits <= 10 * SafePattern.maximumSteps else { throw Self.tooLarge }
        switch tree {
        case .empty: break
        case .scalar(let ranges): try emit(.scalar(ranges))
        case .start: try emit(.start)
        case .end: try emit(.end)
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

    private mutating func addLoop(_ tree: PatternTree) throws(SafePattern.Refusal) {
        let split = program.steps.count
        try emit(.jump(0))
        try add(tree)
        try emit(.jump(split))
        program.steps[split] = .split(split + 1, program.steps.count)
    }

    private mutating func addChoice(_ trees: ArraySlice<PatternTree>) throws(SafePattern.Refusal) {
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

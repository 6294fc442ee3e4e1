public import SluiceCore
internal import SluiceLua

/// Makes fixtures of what a deployment's plugins have decided.
public struct DecisionRecording: ToolReport {
    /// The fixtures, by the paths that they have in a bundle: `tests/recorded-12.json` of the decision on line 12.
    public let files: [String: String]
    /// How many decisions no fixture could be made of: their input was not kept.
    public let passedOver: Int
    /// There is a fixture at least.
    public var isGood: Bool { !files.isEmpty }

    /// Makes a fixture of each decision of a plugin, one of each kind of input.
    ///
    /// - Parameters:
    ///   - config: the configuration that the plugin had.
    ///   - fields: names of fields whose values are hidden.
    public init(
        _ file: DecisionFile, of plugin: String, config: JSON = .object, hiding fields: Set<String> = [],
        limit: Int = 100
    ) {
        var files: [String: String] = [:]
        var seen: Set<String> = []
        var passedOver = 0
        for line in file.hiding(Set(fields.map(PropertyName.init))).lines
        where line.decision.plugin == plugin && files.count < limit {
            let entry = line.decision
            guard let fixture = DecisionFixture.fixture(entry, config: config) else {
                passedOver += 1
                continue
            }
            guard seen.insert("\(entry.hook.rawValue) \(entry.inputHash)").inserted else { continue }
            files["tests/recorded-\(line.number).json"] = JSONLayout.text(fixture)
        }
        self.files = files
        self.passedOver = passedOver
    }

    /// Writes the fixtures into a plugin's folder.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` where that cannot be done.
    public func write(to folder: String) throws(SluiceError) {
        try AuthorFolder(folder).write(files.mapValues { Array($0.utf8) })
    }

    /// The paths, and what was passed over.
    public var lines: [String] {
        files.keys.sorted() + [
            "\(files.count.counted("fixture")), \(passedOver.counted("decision")) without input passed over"
        ]
    }

    /// The same for a program.
    public var json: JSON {
        ["fixtures": JSON(files.keys.sorted().map { JSON($0) }), "passed_over": JSON(passedOver)]
    }
}

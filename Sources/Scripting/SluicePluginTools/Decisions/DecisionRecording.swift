public import SluiceCore
internal import SluiceLua

/// Turns the decisions of a deployment's plugins into fixtures.
public struct DecisionRecording: ToolReport {
    /// The fixtures, by their paths in a bundle: `tests/recorded-12.json` for the decision on line 12.
    public let files: [String: String]
    /// The number of decisions without a fixture: their input was not kept.
    public let passedOver: Int
    /// Whether there is at least one fixture.
    public var isGood: Bool { !files.isEmpty }

    /// Creates a fixture for each decision of a plugin, but only one for equal inputs.
    ///
    /// - Parameters:
    ///   - config: the plugin's configuration at that time.
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
    /// - Throws: ``SluiceError`` of code `invalidArgument` if they cannot be written.
    public func write(to folder: String) throws(SluiceError) {
        try AuthorFolder(folder).write(files.mapValues { Array($0.utf8) })
    }

    /// The paths, and the number of skipped decisions.
    public var lines: [String] {
        files.keys.sorted() + [
            "\(files.count.counted("fixture")), \(passedOver.counted("decision")) without input passed over"
        ]
    }

    /// The report as JSON.
    public var json: JSON {
        ["fixtures": JSON(files.keys.sorted().map { JSON($0) }), "passed_over": JSON(passedOver)]
    }
}

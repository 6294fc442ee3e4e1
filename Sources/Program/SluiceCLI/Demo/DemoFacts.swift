internal import Sluice

/// The demo's results, for `--json`.
struct DemoFacts {
    var rows: Int
    var endpoint: String
    /// For each device: the number of rows in the first pull.
    var pulled: [(name: String, rows: Int)] = []
    /// For each device: the end of the push without a network, and the number of changes left waiting.
    var offline: [(name: String, end: String, waiting: Int)] = []
    /// For each device: the numbers of changes sent, conflicts met, and changes left.
    var pushed: [(name: String, applied: Int, conflicts: Int, remaining: Int)] = []
    var rulings: [DemoHandler.Ruling] = []
    var comparison: DemoComparison
    var seconds: Double
    var folder: String?
    /// The calls of the plugins' hooks.
    var plugins: [DemoPlugins.Line] = []
    /// The result of searching the files of encrypted stores.
    var encryption: DemoEncryption.Facts?

    var json: JSON {
        var json = story
        if !plugins.isEmpty { json["plugins"] = JSON(printing: plugins) }
        if let encryption { json["encryption"] = JSON(printing: encryption) }
        return json
    }

    private var story: JSON {
        [
            "rows": JSON(rows), "endpoint": JSON(endpoint),
            "pulled": JSON(pulled.map { ["device": JSON($0.name), "rows": JSON($0.rows)] as JSON }),
            "offline": JSON(
                offline.map { ["device": JSON($0.name), "end": JSON($0.end), "waiting": JSON($0.waiting)] as JSON }),
            "pushed": JSON(
                pushed.map {
                    [
                        "device": JSON($0.name), "applied": JSON($0.applied), "conflicts": JSON($0.conflicts),
                        "remaining": JSON($0.remaining),
                    ] as JSON
                }),
            "conflicts": JSON(printing: rulings), "comparison": JSON(printing: comparison),
            "equal": JSON(comparison.isEqual), "seconds": JSON((seconds * 1000).rounded() / 1000),
            "folder": JSON(printing: folder),
        ]
    }
}

internal import Sluice
internal import SluiceLua

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
        if !plugins.isEmpty { json["plugins"] = JSON(plugins.map(Self.json)) }
        if let encryption { json["encryption"] = encryption.json }
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
            "conflicts": JSON(rulings.map(Self.json)), "comparison": comparisonJSON,
            "equal": JSON(comparison.isEqual), "seconds": JSON((seconds * 1000).rounded() / 1000),
            "folder": folder.map { JSON($0) } ?? .null,
        ]
    }

    private var comparisonJSON: JSON {
        [
            "copies": JSON(comparison.copies), "rows": JSON(comparison.rows),
            "apart": JSON(comparison.apart), "fields": JSON(comparison.fields),
            "differences": JSON(
                comparison.differences.map { difference in
                    [
                        "record": JSON(difference.recordID), "field": JSON(difference.field),
                        "values": JSON(difference.values.map { $0.map { JSON($0) } ?? .null }),
                    ] as JSON
                }),
        ]
    }

    private static func json(_ line: DemoPlugins.Line) -> JSON {
        func counts(_ counts: [String: Int]) -> JSON {
            JSON(members: counts.sorted { $0.key < $1.key }.map { ($0.key, JSON($0.value)) })
        }
        return [
            "plugin": JSON(line.plugin), "hook": JSON(line.hook.rawValue), "calls": counts(line.calls),
            "decisions": counts(line.decisions),
        ]
    }

    private static func json(_ ruling: DemoHandler.Ruling) -> JSON {
        let fields = ruling.fields.map { field in
            [
                "field": JSON(field.name), "base": field.base ?? .null, "server": field.server ?? .null,
                "client": field.client ?? .null, "decided": field.decided ?? .null,
                "winner": field.winner.map { $0 == .client ? "client" : "server" } ?? .null,
                "reason": JSON(field.reason),
            ] as JSON
        }
        return [
            "record": JSON(ruling.recordID), "status": JSON(ruling.status), "judge": JSON(ruling.judge),
            "verdict": ruling.verdict.map { JSON($0) } ?? .null, "reason": ruling.reason.map { JSON($0) } ?? .null,
            "passed": ruling.passed.map { JSON($0) } ?? .null, "fields": JSON(fields),
        ]
    }
}

internal import HTTPTypes
internal import Sluice
internal import SluiceConfiguration

/// Writes the page of a fleet: HTML without scripts. Each text of a device is escaped.
struct FleetPage: Sendable {
    /// The most devices, versions and decisions of a device that are shown.
    private static let mostRows = 500
    private static let mostVersions = 20
    private static let mostDecisions = 5
    /// The most characters of a cell.
    private static let mostCharacters = 120

    /// The path prefix that a proxy has stripped.
    let prefix: String

    /// Returns the form for the operator's token.
    func signIn(isRefused: Bool) -> LocalReply {
        reply(
            .unauthorized,
            """
            <h2>Sign in</h2>
            \(isRefused ? "<p class=\"bad\" role=\"alert\">This is not the operator's token.</p>" : "")
            <form class="row" method="post" action="\(Self.escaped(prefix))/fleet">
            <label for="token">The operator's token</label>
            <input id="token" name="token" type="password" autocomplete="current-password" required autofocus>
            <button class="main">Sign in</button>
            </form>
            """)
    }

    /// The answer while the table cannot be read.
    var unreadable: LocalReply {
        reply(.serviceUnavailable, "<p class=\"bad\" role=\"alert\">The table of the fleet cannot be read now.</p>")
    }

    /// Returns the page with the devices, those that need a look first.
    func devices(_ summary: FleetSummary, at now: Timestamp) -> LocalReply {
        let (shown, rest) = (summary.devices.prefix(Self.mostRows), summary.devices.dropFirst(Self.mostRows))
        var left: [String] = []
        if !rest.isEmpty {
            left.append("\(rest.count.grouped) more are not shown: \(FleetSummary.conditions(of: rest)).")
        }
        if summary.unread > 0 { left.append("\(summary.unread.counted("row")) of the table were not read.") }
        let versions = summary.versions(most: Self.mostVersions).map { "<li>\(Self.escaped($0))</li>" }
        let heads = Self.columns.map { "<th scope=\"col\">\($0)</th>" }
        return reply(
            .ok,
            """
            <h2>\(summary.devices.count.counted("device"))</h2>
            <p>\(Self.escaped(FleetSummary.conditions(of: summary.devices)))</p>
            <ul>\(versions.joined())</ul>
            \(left.isEmpty ? "" : "<p class=\"quiet\">\(Self.escaped(left.joined(separator: " ")))</p>")
            <div class="scroll"><table class="stack">
            <thead><tr>\(heads.joined())</tr></thead>
            <tbody>
            \(shown.map(Self.row).joined(separator: "\n"))
            </tbody>
            </table></div>
            <p class="quiet">As of \(now.description). Times and figures are the devices' own.</p>
            """)
    }

    private static let columns = FleetSummary.Device.columns + ["decisions"]

    private static func row(_ device: FleetSummary.Device) -> String {
        var cells = device.cells.map { escaped($0) }
        cells.append(decisions(of: device.row))
        let color = device.condition == .well ? "good" : "bad"
        let written = zip(columns, cells).map { column, cell -> String in
            let kind = column == "state" ? " class=\"\(color)\"" : ""
            return "<td data-label=\"\(column)\"\(kind)>\(cell)</td>"
        }
        return "<tr>\(written.joined())</tr>"
    }

    /// Returns the newest decisions of a device, folded up.
    private static func decisions(of row: PolicyReportRow) -> String {
        if row.decisions.isEmpty { return "" }
        let items = row.decisions.prefix(mostDecisions).map { decision -> String in
            func text(_ name: String) -> String { decision[name]?.string ?? "" }
            let record = text("table").isEmpty ? "" : " of \(text("table"))/\(text("record"))"
            let reason = text("reason").isEmpty ? "" : ": \(text("reason"))"
            let line = "\(text("at")) \(text("plugin")), \(text("hook")): \(text("decision"))\(record)\(reason)"
            return "<li>\(escaped(line, most: 3 * mostCharacters))</li>"
        }
        return "<details><summary>\(row.decisions.count)</summary><ul>\(items.joined())</ul></details>"
    }

    /// Returns a text as one line of HTML, with its end cut off where it is too long.
    private static func escaped(_ text: String, most: Int = Self.mostCharacters) -> String {
        let line = PlainText.line(text)
        let cut = line.count > most ? String(line.prefix(most - 1)) + "…" : line
        var escaped = ""
        for scalar in cut.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "'": escaped += "&#39;"
            // They would turn the order of the characters after them.
            case "\u{202A}"..."\u{202E}", "\u{2066}"..."\u{2069}": escaped += "\u{FFFD}"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }

    private func reply(_ status: HTTPResponse.Status, _ content: String) -> LocalReply {
        LocalReply(
            status,
            text: """
                <!doctype html>
                <html lang="en">
                <head>
                <meta charset="utf-8">
                <meta name="viewport" content="width=device-width, initial-scale=1">
                <meta name="color-scheme" content="light dark">
                <title>Sluice fleet</title>
                <link rel="stylesheet" href="\(Self.escaped(prefix))/fleet.css">
                </head>
                <body>
                <a class="skip" href="#main">Skip to the content</a>
                <header><h1>Sluice fleet</h1></header>
                <main id="main" tabindex="-1">
                \(content)
                </main>
                </body>
                </html>

                """, type: "text/html; charset=utf-8")
    }
}

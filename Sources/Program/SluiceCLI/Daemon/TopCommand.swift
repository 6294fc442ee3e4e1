internal import ArgumentParser
internal import Sluice
internal import SluiceDaemon

struct TopCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "top", abstract: "Show what a daemon does, live, until Ctrl-C.",
        discussion: "Where the output is no terminal, or with --json, it is printed once.")

    @OptionGroup var target: CtlCommand.Target

    @Option(help: ArgumentHelp("The seconds from one look to the next, 1 to 3600.", valueName: "seconds"))
    var interval = 2

    func validate() throws {
        guard (1...3600).contains(interval) else { throw ValidationError("--interval is 1 to 3600") }
    }

    func run() async throws {
        let client = try target.client()
        let isLive = StandardStream.output.isTerminal && !target.json
        var sent: Int64 = 0
        var last: String?
        while true {
            let status = try await client.ask("status", method: "GET", limit: .seconds(30))
            if target.json { return try StandardStream.output.write(status.bytes() + Array("\n".utf8)) }
            guard isLive else {
                return try StandardStream.output.write(line: DaemonReport.status(status).joined(separator: "\n"))
            }
            let runs = (status["endpoints"]?.elements ?? []).compactMap { $0["lastRun"] }
            let newest = runs.compactMap { $0["startedAt"]?.string }.max()
            if newest != last { sent += runs.reduce(0) { $0 + ($1["sent"]?.int ?? 0) } }
            last = newest
            let width = StandardStream.output.width
            let lines = (DaemonReport.status(status) + ["", "\(sent) sent while watched; Ctrl-C ends"]).map {
                String($0.prefix(width))
            }
            // The cursor goes home, each line is cleared to its end, and finally the rest of the screen is cleared.
            let screen = "\u{1B}[H" + lines.map { "\($0)\u{1B}[K\n" }.joined() + "\u{1B}[J"
            try StandardStream.output.write(Array(screen.utf8))
            try await Task.sleep(for: .seconds(interval))
        }
    }
}

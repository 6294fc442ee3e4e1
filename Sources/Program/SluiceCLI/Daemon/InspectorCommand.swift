internal import ArgumentParser
internal import Sluice
internal import SluiceDaemon

struct InspectorCommand: OutcomeCommand {
    static let configuration = CommandConfiguration(
        commandName: "inspector", abstract: "Print an address that opens a running daemon's inspector.",
        discussion: """
            The address signs in the browser that opens it first, within ten minutes. The daemon serves an inspector \
            where its configuration has inspector.port.
            """)

    @OptionGroup var target: CtlCommand.Target

    func outcome() async throws -> Outcome {
        let json = try await target.client().ask("inspector", limit: .seconds(30))
        return Outcome(json: json, text: [json["address"]?.string ?? ""])
    }
}

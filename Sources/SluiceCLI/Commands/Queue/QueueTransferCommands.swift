internal import ArgumentParser
internal import Foundation
internal import Sluice
internal import SluiceDaemon

struct QueueExportCommand: OutcomeCommand {
    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Print the changes that wait, for import into another store.",
        discussion: """
            One JSON document a line, with all that another store needs to send them: their records, what these were \
            made on, tags and groups. It holds no credentials. The changes stay in the queue.
            """)

    @OptionGroup(title: "Which changes") var which: QueueFilterOptions
    @OptionGroup(title: "Store and server") var connection: ConnectionOptions

    func outcome() async throws -> Outcome {
        try await ClientSession.run(try ClientSettings(connection), usesNetwork: false) { session in
            let lines = try await session.context.queue.export(which.filter).split(separator: "\n").map(String.init)
            return Outcome(json: ["operations": JSON(try lines.map { try JSON(parsing: Array($0.utf8)) })], text: lines)
        }
    }
}

struct QueueImportCommand: OutcomeCommand {
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Put exported changes at the end of the queue: all of them, or none.",
        discussion: "Changes that are in the queue or were imported before are skipped.")

    @Argument(help: "The file that queue export printed, or - for standard input.")
    var file: String

    @OptionGroup(title: "Store and server") var connection: ConnectionOptions

    func outcome() async throws -> Outcome {
        let text = try read()
        let settings = try ClientSettings(connection)
        return try await ClientSession.run(settings, usesNetwork: false, makesStore: true) { session in
            let result = try await session.context.queue.import(text)
            return Outcome(
                json: ["imported": JSON(result.imported), "skipped": JSON(result.skipped)],
                text: ["imported \(Plain.count(result.imported, "change")), skipped \(result.skipped)"])
        }
    }

    private func read() throws -> String {
        let input =
            file == "-" ? StandardInput.read() : FileManager.default.contents(atPath: file).map { Array($0) }
        guard let input else { throw CommandFailure.usage("\(Plain.line(file)) cannot be read") }
        guard let text = String(validating: input, as: UTF8.self) else {
            throw CommandFailure(.usage, "invalidJSON", "the export is not UTF-8")
        }
        return text
    }
}

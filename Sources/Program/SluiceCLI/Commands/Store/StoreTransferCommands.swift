internal import ArgumentParser
internal import Foundation
internal import Sluice
internal import SluiceDaemon

struct StoreExportCommand: StoreFileCommand {
    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Write all that the store holds to a new file: one JSON document a line.",
        discussion: """
            Records, the queue, what its changes were made on, cursors. Everything is in plain text in it, whatever the \
            store is encrypted with, so the file is for its owner only; there are no credentials in it, as there are none \
            in the store.
            """)

    @Argument(help: "The file to make, or - for standard output.")
    var file: String

    @Option(
        name: .customLong("redact"),
        help: ArgumentHelp(
            "Leave out what a table's records say, or one property of them, wherever it is kept; may be repeated. Such "
                + "an export is to be looked at, and cannot be imported.", valueName: "table[.property]"))
    var redactions: [String] = []

    @Flag(help: "For others to begin with: no server, no user and nothing of what happened here. The queue is empty.")
    var prefilled = false

    @OptionGroup(title: "Store and server") var connection: ConnectionOptions

    func outcome(of store: SQLiteStore) async throws -> Outcome {
        let export = StoreExport(
            redactions: try redactions.map { try StoreExport.Redaction($0) }, isPrefilled: prefilled)
        if file == "-" {
            let summary = try await export.write(store) { try StandardStream.output.write(line: "\($0)") }
            var outcome = report(summary, "the export holds")
            // Standard output has the export, and nothing else.
            for line in outcome.text { StandardStream.tell(line: line) }
            (outcome.text, outcome.lines) = ([], [])
            return outcome
        }
        let draft: FileDraft
        do throws(SystemFailure) {
            draft = try FileDraft(of: file)
        } catch {
            throw CommandFailure.usage("\(Plain.line(file)) cannot be made: \(error.reason)")
        }
        let name = Plain.line(file)
        @Sendable func lost(_ failure: SystemFailure) -> CommandFailure {
            CommandFailure(
                .output, "outputLost", "\(name) could not be written whole, and is gone again: \(failure.reason)")
        }
        do {
            let summary = try await export.write(store) { line in
                do throws(SystemFailure) { try draft.file.write(Array("\(line)\n".utf8)) } catch { throw lost(error) }
            }
            do throws(SystemFailure) { try draft.finish() } catch { throw lost(error) }
            return report(summary, "\(name) holds")
        } catch {
            draft.discard()
            throw error
        }
    }
}

struct StoreImportCommand: OutcomeCommand {
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Make a new store of what sluice store export has written.",
        discussion: """
            All of it, or nothing. The new store goes on where the exported one was, with its queue: let only one of the \
            two go on, or what waited is sent from both.
            """)

    @Argument(help: "The file that store export made, or - for standard input.")
    var file: String

    @OptionGroup(title: "Store and server") var connection: ConnectionOptions

    func outcome() async throws -> Outcome {
        let settings = try ClientSettings(connection)
        let new = try NewStore(settings)
        let reading = StoreImport()
        let lines = try FileLines(file, longest: reading.maximumLineLength)
        let summary = try await new.make { store in try await reading.read(into: store) { try lines.next() } }
        return report(summary, "\(Plain.line(new.path)) has")
    }
}

private func report(_ summary: StoreExport.Summary, _ subject: String) -> Outcome {
    let tables = summary.records.sorted { $0.key < $1.key }
    return Outcome(
        json: [
            "rows": JSON(summary.rows), "operations": JSON(summary.operations),
            "records": JSON(members: tables.map { ($0.key, JSON($0.value)) }),
        ],
        text: [
            "\(subject) \(Plain.count(summary.records.values.reduce(0, +), "record")) of "
                + "\(Plain.count(tables.count, "table")) and \(Plain.count(summary.operations, "change")) that wait"
        ])
}

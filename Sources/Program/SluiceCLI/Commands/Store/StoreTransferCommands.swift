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

    @Argument(help: "The file to make.")
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
        let export = StoreExport(redactions: try redactions.map { try StoreRedaction($0) }, isPrefilled: prefilled)
        let file = file
        let output: OpenFile
        do throws(SystemFailure) {
            output = try OpenFile(file, [.writing, .new])
        } catch {
            throw CommandFailure.usage("\(Plain.line(file)) cannot be made: \(error.reason)")
        }
        @Sendable func lost(_ failure: SystemFailure) -> CommandFailure {
            CommandFailure(
                .output, "outputLost",
                "\(Plain.line(file)) could not be written whole, and is gone again: \(failure.reason)")
        }
        do {
            let summary = try await export.write(store) { line in
                do throws(SystemFailure) { try output.write(Array("\(line)\n".utf8)) } catch { throw lost(error) }
            }
            do throws(SystemFailure) { try output.sync() } catch { throw lost(error) }
            return report(summary, "\(Plain.line(file)) holds")
        } catch {
            unlink(file)
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

    @Argument(help: "The file that store export made.")
    var file: String

    @OptionGroup(title: "Store and server") var connection: ConnectionOptions

    func outcome() async throws -> Outcome {
        let settings = try ClientSettings(connection)
        let path = try settings.requireStore()
        let reading = StoreImport()
        let lines = try FileLines(file, longest: reading.maximumLineLength)
        let encryption = try settings.storeKey?.encryption()
        try Self.makeFile(path)
        let store: SQLiteStore
        do {
            store = try SQLiteStore(path: path, encryption: encryption, options: settings.storeOptions)
        } catch {
            Self.removeStore(path)
            throw error
        }
        do {
            let summary = try await reading.read(into: store) { try lines.next() }
            try await store.close()
            return report(summary, "\(Plain.line(path)) has")
        } catch {
            // The new store is still empty, unless another program has used it in the meantime.
            let tables = try? await store.read { reader in
                try reader.tables().filter { try reader.count(matching: Query($0.name)) > 0 }
            }
            try? await store.close()
            if tables?.isEmpty == true { Self.removeStore(path) }
            throw error
        }
    }

    /// Creates an empty file if none exists, so that another program's is not taken for it.
    private static func makeFile(_ path: String) throws {
        mkdir(URL(fileURLWithPath: path).deletingLastPathComponent().path, 0o700)
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        if descriptor < 0, errno == EEXIST {
            throw CommandFailure.usage("\(Plain.line(path)) is there already: an export is read into a new store")
        }
        guard descriptor >= 0 else {
            throw CommandFailure.usage("\(Plain.line(path)) cannot be made: \(String(cString: strerror(errno)))")
        }
        close(descriptor)
    }

    private static func removeStore(_ path: String) {
        for file in StoreFileNames.all(path) { unlink(file) }
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

internal import ArgumentParser
internal import Foundation
internal import SluiceCore

/// The `sluice-lab` program: the simulator and the conformance kit, for authors of handlers and stores, and for the
/// long runs that test the engine.
@main
struct SluiceLab: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sluice-lab", abstract: "Try the engine, handlers and stores in a world that fails.",
        discussion:
            "Ends with 0 if everything held, with 1 if something did not, and with 64 for a mistake in the arguments.",
        version: SluiceVersion.full, subcommands: [SimulateCommand.self, ConformCommand.self])
}

/// Writes a line to standard output.
///
/// - Throws: the system's error where the line could not be written, because a missing report would pass for a good
///   one.
func say(_ line: String) throws { try FileHandle.standardOutput.write(contentsOf: Data("\(line)\n".utf8)) }

import Foundation
import Testing

/// The program `script` runs a command in a terminal of its own.
private let script = Program(path: "/usr/bin/script")

/// On a developer's machine the tests are skipped without the program; in continuous integration they fail.
private let isDue =
    FileManager.default.isExecutableFile(atPath: script.path) || ProcessInfo.processInfo.environment["CI"] == "true"

@Suite(.enabled(if: isDue, "needs the program script (bsdutils)"))
struct TerminalTests {
    @Test("long work shows a bar on a terminal and takes it away")
    func bar() async throws {
        let result = try await script(
            "-qec", "\(Program.sluice.path) demo --rows 1000", "/dev/null", environment: ["TERM": "xterm"])
        #expect(result.status == 0)
        #expect(result.output.contains("anna pulls  ["))
        #expect(result.output.contains("\r\u{1B}[K"))
        #expect(result.output.contains("\u{1B}[1m"))
    }

    @Test("a dumb terminal gets neither bar nor colour")
    func dumb() async throws {
        let result = try await script(
            "-qec", "\(Program.sluice.path) demo", "/dev/null", environment: ["TERM": "dumb"])
        #expect(result.status == 0)
        #expect(!result.output.contains("\u{1B}"))
    }

    @Test("an interrupted demo leaves nothing behind")
    func interrupt() async throws {
        try await withScratch { scratch in
            let demo = try Program.sluice.process(
                ["demo", "--rows", "20000", "--json"], environment: ["TMPDIR": scratch.path])
            demo.standardOutput = FileHandle.nullDevice
            demo.standardError = FileHandle.nullDevice
            try demo.run()
            let files = FileManager.default
            let end = ContinuousClock.now + .seconds(300)
            while try files.contentsOfDirectory(atPath: scratch.path).isEmpty, ContinuousClock.now < end {
                try await Task.sleep(for: .milliseconds(5))
            }
            #expect(try !files.contentsOfDirectory(atPath: scratch.path).isEmpty)
            try await Task.sleep(for: .milliseconds(50))
            demo.interrupt()
            while demo.isRunning, ContinuousClock.now < end { try await Task.sleep(for: .milliseconds(5)) }
            if demo.isRunning { kill(demo.processIdentifier, SIGKILL) }
            demo.waitUntilExit()
            #expect(demo.terminationStatus == 128 + SIGINT)
            #expect(try files.contentsOfDirectory(atPath: scratch.path) == [])
        }
    }
}

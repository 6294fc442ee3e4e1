import Foundation
import SluiceCore
import Testing

@testable import SluiceLua
@testable import SluicePluginTools

@Suite("What tools for authors write")
struct LinkTests {
    private let folder: TemporaryFolder
    private var outside: String { folder.path + "/outside" }

    init() throws { folder = try TemporaryFolder() }

    /// Has the body write to a plugin's folder, and looks whether what is outside of it is as before.
    private func withFolder(_ body: (_ plugin: String, _ target: String) throws -> Void) throws {
        let manager = FileManager.default
        let plugin = folder.path + "/plugin"
        try? manager.removeItem(atPath: plugin)
        for path in [plugin, outside] { try manager.createDirectory(atPath: path, withIntermediateDirectories: true) }
        let target = try folder.write("mine", to: "target")
        try body(plugin, target)
        #expect(try String(contentsOfFile: target, encoding: .utf8) == "mine")
        #expect(try manager.contentsOfDirectory(atPath: outside).isEmpty)
    }

    private var recording: DecisionRecording {
        let decision = PluginDecision(
            sequence: 1, at: Timestamp(ticks: 0), plugin: "p", version: "1", hook: .request, inputHash: "",
            input: ["req": ["method": "GET", "path": "/"]], decision: "none", fuel: 0, cpuTime: .zero, elapsed: .zero,
            waits: 0, isShadow: false, log: [], trace: .object)
        return DecisionRecording(DecisionFile([decision]), of: "p")
    }

    @Test("stubs write through no symbolic link, neither of a file nor of a folder")
    func stubs() throws {
        try withFolder { plugin, target in
            try FileManager.default.createSymbolicLink(atPath: plugin + "/.luarc.json", withDestinationPath: target)
            let error = #expect(throws: SluiceError.self) { try PluginStubs().write(to: plugin) }
            #expect(error?.message.contains("symbolic link") == true, "\(error?.message ?? "")")
        }
        try withFolder { plugin, _ in
            try FileManager.default.createSymbolicLink(
                atPath: plugin + "/.luals", withDestinationPath: outside)
            #expect(throws: SluiceError.self) { try PluginStubs().write(to: plugin) }
        }
    }

    @Test("record writes through no symbolic link, neither of a file nor of a folder")
    func record() throws {
        try withFolder { plugin, target in
            try FileManager.default.createDirectory(atPath: plugin + "/tests", withIntermediateDirectories: false)
            try FileManager.default.createSymbolicLink(
                atPath: plugin + "/tests/recorded-1.json", withDestinationPath: target)
            #expect(throws: SluiceError.self) { try recording.write(to: plugin) }
        }
        try withFolder { plugin, _ in
            try FileManager.default.createSymbolicLink(
                atPath: plugin + "/tests", withDestinationPath: outside)
            #expect(throws: SluiceError.self) { try recording.write(to: plugin) }
        }
    }

    @Test("a file that has another name outside is not written to")
    func hardLink() throws {
        try withFolder { plugin, target in
            try FileManager.default.linkItem(atPath: target, toPath: plugin + "/.luarc.json")
            #expect(throws: SluiceError.self) { try PluginStubs().write(to: plugin) }
        }
    }

    @Test("a file that is there is written anew, in folders that are made")
    func plain() throws {
        try withFolder { plugin, _ in
            for _ in 0..<2 { try PluginStubs().write(to: plugin + "/new/deeper") }
            #expect(FileManager.default.fileExists(atPath: plugin + "/new/deeper/.luals/sluice.d.lua"))
            try recording.write(to: plugin)
            #expect(FileManager.default.fileExists(atPath: plugin + "/tests/recorded-1.json"))
        }
    }
}

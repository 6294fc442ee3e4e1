import Foundation
import Testing

@testable import SluiceBase

@Suite("A file in the making") final class FileDraftTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    private var name: String { "\(folder.path)/whole" }

    init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(at: folder) }

    private func files() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: folder.path) }

    @Test("has its name once it is whole, and replaces what a killed process left") func whole() throws {
        try Data("of a killed process".utf8).write(to: URL(fileURLWithPath: name + "-sluice-draft"))
        let draft = try FileDraft(of: name)
        try draft.file.write(Array("all".utf8))
        #expect(FileStatus(name) == nil)
        try draft.finish()
        #expect(try files() == ["whole"] && String(contentsOfFile: name, encoding: .utf8) == "all")
        #expect(FileStatus(name)?.permissions == 0o600)
    }

    @Test("is gone when it is given up") func discarded() throws {
        let draft = try FileDraft(of: name)
        draft.discard()
        #expect(try files() == [])
    }

    @Test("is one at a time") func alone() throws {
        let draft = try FileDraft(of: name)
        #expect(throws: SystemFailure("flock", code: EBUSY)) { _ = try FileDraft(of: name) }
        try draft.finish()
        #expect(throws: SystemFailure("open", code: EEXIST)) { _ = try FileDraft(of: name) }
    }

    @Test("replaces no file that got the name meanwhile") func taken() throws {
        let draft = try FileDraft(of: name)
        try Data("another's".utf8).write(to: URL(fileURLWithPath: name))
        #expect(throws: SystemFailure("rename", code: EEXIST)) { try draft.finish() }
        draft.discard()
        #expect(try files() == ["whole"] && String(contentsOfFile: name, encoding: .utf8) == "another's")
    }
}

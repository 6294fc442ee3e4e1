import Foundation
import Sluice
import Testing

@testable import SluiceCLI

@Suite struct DemoFolderTests {
    /// The files in the folder that are databases anybody can read, without the server's own.
    private func readable(in folder: String) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: folder).filter { name in
            let content = FileManager.default.contents(atPath: "\(folder)/\(name)") ?? Data()
            return !name.hasPrefix("backend.db") && content.starts(with: Data("SQLite format 3".utf8))
        }
    }

    private func mode(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    @Test("the folder is its owner's alone, and so is what passes through it")
    func owner() async throws {
        try await withScratch { scratch in
            let folder = try DemoFolder(keep: scratch.file("kept"))
            #expect(try mode(folder.path) == 0o700)
            let file = try folder.passingFile("copy")
            #expect(try mode(URL(fileURLWithPath: file).deletingLastPathComponent().path) == 0o700)
            try Data("x".utf8).write(to: URL(fileURLWithPath: file))
            folder.removePassing()
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
        }
    }

    @Test("encrypted stores that are kept stand there with their keys, and no copy of them that anybody can read")
    func kept() async throws {
        try await withScratch { scratch in
            let kept = scratch.file("kept")
            let result = try await Program.sluice("demo", "--json", "--encrypted", "--keep", kept)
            #expect(result.status == 0, "\(result)")
            let names = try FileManager.default.subpathsOfDirectory(atPath: kept)
            for name in ["anna.db", "anna.key", "ben.db", "ben.key"] { #expect(names.contains(name), "\(names)") }
            #expect(try readable(in: kept) == [])
        }
    }

    @Test(
        "no copy of an encrypted store stays where the comparison fails or is interrupted",
        arguments: [("exit 1", 6), ("kill -INT $PPID; /bin/sleep 5", 130)] as [(String, Int32)])
    func ended(_ script: String, _ status: Int32) async throws {
        try await withScratch { scratch in
            let kept = scratch.file("kept")
            let program = try scratch.write("sqlite3", "#!/bin/sh\n\(script)\n")
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: program)
            let result = try await Program.sluice(
                "demo", "--json", "--encrypted", "--keep", kept, environment: ["PATH": scratch.path])
            #expect(result.status == status, "\(result)")
            #expect(try FileManager.default.subpathsOfDirectory(atPath: kept).contains("anna.db"))
            #expect(try readable(in: kept) == [])
        }
    }
}

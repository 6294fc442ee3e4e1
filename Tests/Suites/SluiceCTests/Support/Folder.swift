import Foundation
import RepositoryFiles
import Testing

/// A folder of a test's own, with the library in `lib` as its users get it: header, library, pkg-config file.
struct Folder: Sendable {
    /// The library of this build, which lies beside the tests.
    static let library: String = {
        let here = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        return URL(fileURLWithPath: here).deletingLastPathComponent().appendingPathComponent("libsluice-c.so").path
    }()

    let path: String

    func file(_ name: String) -> String { "\(path)/\(name)" }

    /// Runs `body` with a folder, and removes it.
    static func use<Result>(_ body: (Folder) async throws -> Result) async throws -> Result {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("sluice-c-\(UUID().uuidString)").path
        let folder = Folder(path: path)
        try FileManager.default.createDirectory(atPath: folder.file("lib"), withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: path) }
        // A link, for a debug build is large; LibraryTests has the files as `make lib` makes them.
        try FileManager.default.createSymbolicLink(
            atPath: folder.file("lib/libsluice.so"), withDestinationPath: library)
        for (name, source) in [("sluice.h", "CSluice/include/sluice.h"), ("sluice.pc", "SluiceC/sluice.pc.in")] {
            try FileManager.default.copyItem(
                atPath: Repository.path("Sources/Bindings/\(source)"), toPath: folder.file("lib/\(name)"))
        }
        return try await body(folder)
    }

    /// Builds a program in C from that source, as its user would, and runs it. With LeakSanitizer it fails if anything
    /// that it or the library allocated is lost at its end.
    func run(
        _ source: String, _ arguments: [String] = [], packages: [String] = ["sluice"]
    ) async throws -> Command.Result {
        try await run(path: Repository.path(source), arguments, packages: packages)
    }

    /// As ``run(_:_:packages:)`` with a source at any place.
    ///
    /// - Parameter warns: whether what the compiler warns of is a failure too.
    func run(
        path: String, _ arguments: [String] = [], packages: [String], warns: Bool = true
    ) async throws -> Command.Result {
        let warnings = warns ? "-Wall -Wextra -Werror" : ""
        let build = try await Command.run(
            [
                "sh", "-c",
                "cc -std=gnu11 -g -fsanitize=leak \(warnings) '\(path)' -o program "
                    + "$(pkg-config --cflags --libs \(packages.joined(separator: " "))) -lpthread",
            ], in: self)
        try #require(build.status == 0, "\(build.output)")
        return try await Command.run([file("program")] + arguments, in: self)
    }

    /// The text of a file of the sources.
    static func text(_ path: String) throws -> String {
        try String(contentsOfFile: Repository.path(path), encoding: .utf8)
    }
}

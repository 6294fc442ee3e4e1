import Foundation
import RepositoryFiles
import Testing

@Suite struct PythonTests {
    private static let package = ["PYTHONPATH": Repository.path("Sources/Bindings/SluicePython")]

    @Test("the example in Python syncs the demo's data")
    func example() async throws {
        let source = try Folder.text("Examples/python/sync.py")
        #expect(source.split(separator: "\n", omittingEmptySubsequences: false).count < 80)
        try await Folder.use { folder in
            try await Server.use { endpoint in
                let result = try await Command.run(
                    ["python3", Repository.path("Examples/python/sync.py"), endpoint], in: folder,
                    environment: Self.package)
                #expect(result.status == 0, "\(result.output)")
                #expect(try Folder.text("docs/c.md").contains(result.output), "\(result.output)")
            }
        }
    }

    @Test("the package does what it says, with plugins, encrypted stores and every dialect")
    func package() async throws {
        try await Folder.use { folder in
            try await Server.use { endpoint in
                let result = try await Command.run(
                    [
                        "python3", Repository.path("Tests/Suites/SluiceCTests/Programs/package.py"), endpoint,
                        Repository.folder,
                    ],
                    in: folder, environment: Self.package)
                #expect(result.status == 0, "\(result.output)")
            }
        }
    }

    @Test("pip installs the package")
    func installation() async throws {
        try await Folder.use { folder in
            // A copy, because the build writes beside the sources.
            try FileManager.default.copyItem(
                atPath: Repository.path("Sources/Bindings/SluicePython"), toPath: folder.file("package"))
            let pip = try await Command.run(
                [
                    "/usr/bin/python3", "-m", "pip", "install", "--no-build-isolation", "--no-deps", "--no-index",
                    "--quiet",
                    "--target", "installed", "./package",
                ], in: folder)
            try #require(pip.status == 0, "\(pip.output)")
            let run = try await Command.run(
                [
                    "python3", "-c",
                    "import sluice; print(sluice.__version__, sluice.Context(':memory:').status().phase)",
                ],
                in: folder, environment: ["PYTHONPATH": folder.file("installed")])
            #expect(run.output == "0.1.0 idle\n")
            #expect(FileManager.default.fileExists(atPath: folder.file("installed/sluice/py.typed")))
        }
    }
}

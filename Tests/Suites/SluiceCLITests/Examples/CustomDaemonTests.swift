import Foundation
import RepositoryFiles
import Sluice
import Testing

@Suite(.example(.customDaemon)) struct CustomDaemonTests {
    private static let policy = Repository.path("Examples/custom-daemon/policy.yaml")

    @Test("the daemon of the example syncs by itself, its plugin decides a conflict, and it ends in order")
    func syncs() async throws {
        try await withServer(tables: "{ movies: { softDelete: true } }") { server, scratch in
            let (daemon, other) = (scratch.file("daemon.db"), scratch.file("other.db"))
            let connection = ["--endpoint", server.endpoint, "--store", other]
            #expect(
                try await Program.sluice.run(
                    ["insert", "movies", #"{"id": "m", "title": "Alien", "year": 1}"#] + connection
                ).status == 0)
            #expect(try await Program.sluice.run(["push"] + connection).status == 0)

            let log = try scratch.write("daemon.log", "")
            let first = try start([daemon, server.endpoint, Self.policy], log: log)
            try await until { try await Program.sluice("get", "movies", "m", "--store", daemon).status == 0 }
            #expect(stop(first) == 0)

            // Both change the record. The plugin keeps the title of this device, and the rest of the server's record.
            #expect(
                try await Program.sluice.run(["update", "movies", "m", #"{"year": 1979}"#] + connection).status == 0)
            #expect(try await Program.sluice.run(["push"] + connection).status == 0)
            #expect(
                try await Program.sluice("update", "movies", "m", #"{"title": "Aliens"}"#, "--store", daemon).status
                    == 0)
            let second = try start([daemon, server.endpoint, Self.policy], log: log)
            try await until {
                _ = try await Program.sluice.run(["pull", "movies"] + connection)
                let record = try await Program.sluice.run(["get", "movies", "m", "--json"] + connection).json
                return record["title"]?.string == "Aliens" && record["year"]?.int == 1979
            }
            #expect(stop(second) == 0)
            #expect(try String(contentsOfFile: log, encoding: .utf8).contains("kept the title"))
        }
    }

    private func start(_ arguments: [String], log: String) throws -> Process {
        let process = try Program.customDaemon.process(arguments)
        process.standardOutput = try FileHandle(forWritingTo: URL(fileURLWithPath: log))
        process.standardError = process.standardOutput
        try process.run()
        return process
    }

    private func stop(_ process: Process) -> Int32 {
        process.terminate()
        process.waitUntilExit()
        return process.terminationStatus
    }

    private func until(_ condition: () async throws -> Bool) async throws {
        let end = ContinuousClock.now + .seconds(60)
        while try await !condition() {
            guard ContinuousClock.now < end else {
                Issue.record("it did not come about in a minute")
                return
            }
            try await Task.sleep(for: .milliseconds(100))
        }
    }
}

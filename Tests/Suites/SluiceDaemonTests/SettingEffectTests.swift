import Foundation
import SluiceCore
import SluiceSQLite
import Testing

@testable import SluiceDaemon

/// What settings come to in the session, the client and the schedule that are made of them. What those do with it is
/// tested with them.
@Suite struct SettingEffectTests {
    /// A session with the settings, given as the environment gives them.
    private func session<Result>(
        _ settings: [String: String], _ body: (ClientSession, SettingValues) async throws -> Result
    ) async throws -> Result {
        let folder = "/tmp/sluice-effects-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        var environment = ["SLUICE_ENDPOINT": "http://127.0.0.1:9", "SLUICE_STORE": "\(folder)/a.db"]
        for (key, value) in settings { environment[Setting.variable(key)] = value }
        let read = try Settings(SettingsFile(), environment: environment)
        let client = try ClientSettings(SettingsFile(), read, environment: environment)
        let session = try await ClientSession.open(client, usesNetwork: true, makesStore: true)
        let result = try await body(session, SettingValues(read, environment: environment))
        try await session.close()
        return result
    }

    @Test("retries, limits, batches and policies reach the client and the context")
    func client() async throws {
        try await session([
            "retry.attempts": "7", "retry.first-pause": "11ms", "retry.longest-pause": "13ms", "batch": "17",
            "concurrency": "19", "limits.attempts": "23", "limits.page-size": "29", "limits.request-time": "31ms",
            "limits.answer-bytes": "3701", "conflicts": "client-wins", "user": "ann", "dialect": "azure-v3",
            "durability": "normal",
        ]) { session, _ in
            let client = try #require(session.context.client)
            #expect(client.options.retry.attempts == 7)
            #expect(client.options.retry.firstPause == .milliseconds(11))
            #expect(client.options.retry.maximumPause == .milliseconds(13))
            #expect(client.options.limits.deadline == .milliseconds(31))
            #expect(client.options.limits.responseBytes == 3701)
            #expect(client.dialect.name == "azure-v3")
            let options = session.context.options
            #expect((options.batchSize, options.concurrency) == (17, 19))
            #expect((options.maximumAttempts, options.pageSize) == (23, 29))
            #expect((options.conflictPolicy, options.user) == (.clientWins, "ann"))
            #expect(session.settings.storeOptions.durability == .normal)
        }
        // Without them it is as the declarations say.
        try await session([:]) { session, _ in
            #expect(session.context.options.conflictPolicy == .hold)
            #expect(session.context.client?.options.retry.attempts == 3)
            #expect(session.context.options.batchSize == nil && session.settings.storeOptions.durability == .full)
        }
    }

    @Test("the schedule is as the settings say")
    func schedule() async throws {
        try await session([
            "schedule.interval": "101s", "schedule.change-delay": "103s", "schedule.first-pause": "107s",
            "schedule.longest-pause": "109s", "schedule.spread": "113s",
        ]) { session, values in
            let schedule = SyncSchedule(values, pulls: session.settings.pulls)
            #expect((schedule.interval, schedule.changeDelay) == (.seconds(101), .seconds(103)))
            #expect((schedule.firstPause, schedule.maximumPause) == (.seconds(107), .seconds(109)))
            #expect(schedule.spread == .seconds(113))
        }
        try await session(["schedule.on-change": "false"]) { _, values in
            #expect(SyncSchedule(values, pulls: []).changeDelay > .seconds(86_400))
        }
    }

    @Test("a key or a passphrase of the environment encrypts the store")
    func encryption() async throws {
        let key = String(repeating: "0f", count: 32)
        for setting in [("store-key", key), ("store-passphrase", "a good passphrase")] {
            try await session([setting.0: setting.1]) { session, _ in
                let path = try #require(session.settings.store)
                let head = FileManager.default.contents(atPath: path)?.prefix(15)
                #expect(head.map { String(decoding: $0, as: UTF8.self) } != "SQLite format 3", "\(setting.0)")
            }
        }
        try await session([:]) { session, _ in
            let head = FileManager.default.contents(atPath: try #require(session.settings.store))?.prefix(15)
            #expect(head.map { String(decoding: $0, as: UTF8.self) } == "SQLite format 3")
        }
    }

    @Test("a program's output is the token, and the scheme says in which field it goes")
    func token() async throws {
        try await session(["token-command": "/bin/echo,from-the-program", "token-scheme": "bearer"]) { session, _ in
            let options = try #require(session.context.client?.options)
            let token = try await options.tokenProvider?.token()
            #expect(token == "from-the-program")
            #expect(options.tokenScheme == .bearer)
        }
        try await session(["token": "from-the-environment"]) { session, _ in
            let token = try await session.context.client?.options.tokenProvider?.token()
            #expect(token == "from-the-environment")
            #expect(session.context.client?.options.tokenScheme == .zumo)
        }
    }
}

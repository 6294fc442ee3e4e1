internal import ArgumentParser
internal import Foundation
internal import Sluice
internal import SluiceStores

/// Travel agencies: those of the United States are on the device, the others are asked of the service when it is there.
@main
struct MixedMode: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mixed-mode",
        abstract: "Reads travel agencies online, offline and mixed, and checks each answer and its source.")

    @Flag(help: "Print what was asked and answered as JSON.") var json = false

    func run() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("mixed-mode-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        var service = try await AgencyService()
        var story = Story(isQuiet: json)
        do {
            try await tell(&story, &service, folder.appendingPathComponent("agencies.db").path)
            try await service.close()
        } catch {
            try? await service.close()
            throw error
        }
        story.end()
        if json { print(story.document) }
        guard story.isRight else { throw ExitCode.failure }
    }

    private func tell(_ story: inout Story, _ service: inout AgencyService, _ path: String) async throws {
        // No retries: a service that is away is found to be so at once.
        let client = SluiceClient(
            endpoint: try Endpoint(service.endpoint), dialect: .odataV4, transport: AsyncHTTPTransport(),
            options: ClientOptions(retry: .never))
        // The service says by its metadata which tables there are, and how they are linked.
        let tables = try await client.metadata().linkedTables
        let local = try SQLiteStore(path: path)
        let context = try await SyncContext(client: client, store: local, tables: tables)
        let offline = OfflineStore(context: context, tables: tables)
        let store = MixedStore(online: OnlineStore(client: client, tables: tables), offline: offline)
        await story.refused("a store that was not opened refuses to read", by: .storeClosed) {
            try await store.read("Agencies")
        }
        try await store.open()
        try await offline.add(
            DefiningRequest("us", of: "Agencies", try ODataOptions("$filter=Country eq 'US'&$expand=bookings")))
        let brought = try await offline.download()
        story.note("The device keeps the agencies of the US with their bookings: \(brought.stored) records came.")

        story.chapter("In mixed mode, with a network")
        try await story.ask(
            store, "Agencies?$filter=Country eq 'US'&$orderby=Name", .localComplete, ["us-1", "us-2", "us-3"])
        try await story.ask(
            store, "Agencies?$filter=Country eq 'US' and Rank gt 3&$expand=bookings", .localComplete, ["us-2", "us-3"])
        try await story.ask(store, "Agencies?$filter=City eq 'Beijing'", .remote, ["cn-1", "cn-2"])
        try await story.ask(store, "Agencies('us-2')/bookings", .localComplete, ["b-3"])
        try await story.ask(store, "\(service.endpoint)/Agencies('cn-1')/bookings", .remote, ["b-4"])

        story.chapter("An agency is changed on the device, and the service does not know yet")
        try await store.patch(["id": "us-1", "Rank": 9], in: "Agencies")
        try await story.ask(store, "Agencies?$filter=Country eq 'US' and Rank gt 8", .localComplete, ["us-1"])
        try await story.ask(store, "Agencies?$filter=Rank gt 6&$orderby=Rank desc", .merged, ["us-1", "cn-2"])

        story.chapter("Offline")
        store.mode = .offline
        try await story.ask(
            store, "Agencies?$filter=Country eq 'US'&$orderby=Name", .localComplete, ["us-1", "us-2", "us-3"])
        try await story.ask(store, "Agencies?$filter=City eq 'Beijing'", .localPartial, [])
        await story.refused("a function is not answered offline", by: .notAvailableOffline) {
            try await store.read("Nearest(count=2)")
        }

        story.chapter("In mixed mode, and the service is away")
        store.mode = .mixed
        try await service.disconnect()
        try await story.ask(store, "Agencies?$filter=Country eq 'US' and City eq 'Boston'", .localComplete, ["us-1"])
        await story.refused("Beijing is not here, and the error says what is missing", by: .notCovered) {
            try await store.read("Agencies?$filter=City eq 'Beijing'")
        }
        try await story.ask(
            store, "Agencies?$filter=City eq 'Beijing'", .localPartial, [], ReadOptions(uncovered: .partial))

        story.chapter("The service is back; the change is sent, and China becomes a part of the device")
        try await service.reconnect()
        let push = try await offline.upload()
        story.note("\(push.applied) change was sent.")
        try await offline.add(DefiningRequest("china", of: "Agencies", try ODataOptions("$filter=Country eq 'CN'")))
        try await offline.download()
        store.mode = .offline
        try await story.ask(
            store, "Agencies?$filter=City eq 'Beijing' and Country eq 'CN'", .localComplete, ["cn-1", "cn-2"])
        try await story.ask(store, "Agencies?$filter=City eq 'Beijing'", .localPartial, ["cn-1", "cn-2"])
        store.mode = .online
        try await story.ask(store, "Agencies?$filter=Rank gt 8", .remote, ["us-1"])
        await store.close()
        try await local.close()
    }
}

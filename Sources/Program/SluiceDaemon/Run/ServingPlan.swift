internal import Foundation
internal import Logging
internal import Sluice
internal import SluiceLua

/// A configuration that has been read and checked as far as possible without opening a store.
///
/// The daemon starts with a plan, and `config check` makes one, so both refuse the same mistakes.
package struct ServingPlan: Sendable {
    /// One endpoint of the configuration.
    struct Endpoint: Sendable {
        let client: ClientSettings
        let store: String
        let values: SettingValues
        /// The times of the day in which runs may begin.
        let windows: [DayWindow]

        var name: String { client.name }
    }

    let settings: Settings
    /// The values that count for the daemon as a whole.
    let values: SettingValues
    let endpoints: [Endpoint]
    let listening: ListeningPlan
    let path: String

    /// Reads the configuration.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` with the mistake and its place.
    package init(_ source: SettingsSource) throws {
        let (file, settings) = try source.read()
        var endpoints: [Endpoint] = []
        for name in settings.endpoints {
            let client = try ClientSettings(file, settings, endpoint: name, environment: source.environment)
            let values = SettingValues(settings, endpoint: name, environment: source.environment)
            let store = try client.requireStore()
            if let other = endpoints.first(where: { SQLiteStore.resolved($0.store) == SQLiteStore.resolved(store) }) {
                throw SluiceError(
                    .invalidArgument,
                    "the endpoints \(other.name) and \(name) have the same store; each needs one of its own")
            }
            try WritablePlace.check(SQLiteStore.resolved(store), for: "store")
            try SQLiteStore.check(path: store, encryption: try client.storeKey?.encryption())
            endpoints.append(
                Endpoint(client: client, store: store, values: values, windows: try DayWindow.list(values)))
        }
        guard !endpoints.isEmpty else {
            throw SluiceError(.invalidArgument, "the configuration has no store")
        }
        (self.settings, self.endpoints, path) = (settings, endpoints, source.path)
        values = SettingValues(settings, environment: source.environment)
        listening = try ListeningPlan(values, stores: endpoints.map(\.store))
    }

    /// Checks that everything named in the configuration can be used: addresses, files of tokens, keys and
    /// certificates, the plugins with their fixtures, and what a store has to take: tables, columns and migrations. No
    /// store's file is opened, no token's program is run, and nothing is sent.
    ///
    /// - Throws: ``SluiceError`` for the first that cannot be used.
    package func check() async throws {
        let logger = Logger(label: "sluice") { _ in SwiftLogNoOpLogHandler() }
        _ = try SpanExport(values, logger: logger, metrics: MeterRegistry())
        for endpoint in endpoints { try await endpoint.client.check(logger) }
    }

    /// The stores, by path.
    var stores: [String] { endpoints.map(\.store) }
}

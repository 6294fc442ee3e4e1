internal import Foundation
internal import HTTPTypes
internal import Logging
internal import ServiceLifecycle
internal import Sluice
internal import SluiceLua
internal import SluiceService
internal import UnixSignals

/// A daemon of one's own: sync as one of its services, a policy in Lua, and a filter in Swift.
@main
enum CustomDaemon {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 4 else {
            FileHandle.standardError.write(Data("usage: custom-daemon STORE ENDPOINT POLICY\n".utf8))
            exit(2)
        }
        let logger = Logger(label: "custom-daemon")
        let store = try SQLiteStore(path: arguments[1])
        let plugins = try await Plugins(policy: arguments[3], options: PluginOptions(logger: logger, store: store))
        let client = SluiceClient(
            endpoint: try Endpoint(arguments[2]), transport: AsyncHTTPTransport(),
            filters: [plugins.filter, ShopName()])
        let context = try await SyncContext(client: client, store: store, options: plugins.added(to: SyncOptions()))

        // Sync in five lines: start, stop and signals are the group's.
        let schedule = SyncSchedule(
            pulls: [.init(TableQuery("movies"), named: "all")], interval: .seconds(2), spread: .zero)
        let sync = SyncService(context, schedule, logger: logger)
        let services: [any Service] = [sync, Reloading(plugins: plugins, logger: logger)]
        let group = ServiceGroup(services: services, gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
        try await group.run()
        try await store.close()
    }
}

/// The filter in Swift: the server's log shows which shop a request came from.
struct ShopName: RequestTransform {
    func request(_ request: SyncRequest) -> SyncRequest {
        var request = request
        if let name = HTTPField.Name("X-Shop") { request.head.headerFields[name] = "shop-7" }
        return request
    }
}

/// Reads the policy again at SIGHUP. A policy with a mistake changes nothing: the plugins from before go on.
struct Reloading: Service {
    let plugins: Plugins
    let logger: Logger

    func run() async throws {
        for await _ in await UnixSignalsSequence(trapping: .sighup).cancelOnGracefulShutdown() {
            do {
                try await plugins.reload()
                logger.info("the policy was reloaded")
            } catch {
                logger.error("the policy was not reloaded: \(error)")
            }
        }
    }
}

internal import Sluice
internal import SluiceService

extension Daemon: Inspected {
    var endpoints: [InspectedEndpoint] {
        get async {
            _ = try? await opened()
            return inspected
        }
    }

    private var inspected: [InspectedEndpoint] {
        serving.installations.map { installation in
            InspectedEndpoint(
                name: installation.name, session: installation.session,
                changed: { installation.service.scheduler.changed() })
        }
    }
}

internal import Sluice
internal import SluiceService

extension Daemon: Inspected {
    var endpoints: [InspectedEndpoint] {
        serving.installations.map { installation in
            InspectedEndpoint(
                name: installation.name, session: installation.session,
                changed: { installation.service.scheduler.changed() })
        }
    }
}

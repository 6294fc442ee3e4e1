internal import Sluice

/// What the inspector looks at and acts on: a daemon, as far as it needs one.
protocol Inspected: Sendable {
    /// The endpoints that serve now; a reload puts others in their place.
    var endpoints: [InspectedEndpoint] { get async }
    func status() async -> JSON
    /// Runs one endpoint now, and waits for the end.
    func sync(_ name: String?) async throws -> JSON
    @discardableResult func reload() async throws -> [String]
    func pause(_ pauses: Bool) async
}

/// An endpoint that the inspector looks at.
struct InspectedEndpoint: Sendable {
    let name: String
    let session: ClientSession
    /// Reports that the queue has changed: what is to be sent is sent soon.
    let changed: @Sendable () -> Void
}

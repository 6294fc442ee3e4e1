internal import Sluice

/// The parts of a daemon that the inspector shows and acts on.
protocol Inspected: Sendable {
    /// The endpoints that serve now; a reload replaces them.
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
    /// Reports that the queue has changed, so that its operations are sent soon.
    let changed: @Sendable () -> Void
}

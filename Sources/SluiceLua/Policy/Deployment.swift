/// Where plugins run, as matches ask and as scripts see it in `ctx.deployment`.
public struct Deployment: Sendable, Hashable {
    /// The deployment's name.
    public var id: String?
    /// What it says of itself: `["ring": "canary"]`.
    public var labels: [String: String]

    /// A deployment.
    public init(id: String? = nil, labels: [String: String] = [:]) {
        self.id = id
        self.labels = labels
    }
}

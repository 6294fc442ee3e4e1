/// The conditions of a ``Match``, by their names in manifests and policies.
public enum MatchCondition: String, Sendable, Hashable, CaseIterable {
    /// The table's name.
    case tables
    /// The HTTP method.
    case methods
    /// The action: ``RequestContext/Action``.
    case kinds
    /// The status of the answer.
    case status
    /// The host of the request.
    case hosts
    /// A label of the deployment.
    case deployment
    /// A field that the change touches.
    case fieldsChanged = "fields_changed"
    /// A share of all records.
    case sample
}

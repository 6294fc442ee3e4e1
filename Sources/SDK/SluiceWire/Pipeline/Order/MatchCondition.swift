/// What a ``Match`` may ask for, by the names that manifests and policies use.
public enum MatchCondition: String, Sendable, Hashable, CaseIterable {
    /// The table's name.
    case tables
    /// The HTTP method.
    case methods
    /// What is done: ``RequestContext/Action``.
    case kinds
    /// The status of the answer.
    case status
    /// The host that the request goes to.
    case hosts
    /// A label of the deployment.
    case deployment
    /// A field that the change touches.
    case fieldsChanged = "fields_changed"
    /// A share of all records.
    case sample
}

internal import SluiceCore
internal import SluiceLua

/// What a new plugin of a kind begins with.
struct ScaffoldTemplate {
    var summary: String
    var hooks: JSON
    var schema: JSON
    var main: String
    var fixtures: [(file: String, json: JSON)]
    var permissions: JSON?

    static func template(_ kind: ScaffoldKind) -> ScaffoldTemplate {
        switch kind {
        case .conflict: conflict
        case .filter: filter
        case .request: request
        case .response: response
        case .beforeEnqueue: beforeEnqueue
        case .beforePush: beforePush
        case .pushError: pushError
        case .afterPull: afterPull
        case .schedule: schedule
        case .table: table
        }
    }

    /// A schema of properties, each with its description, type and default.
    static func schema(_ properties: [(name: String, about: String, node: JSON)]) -> JSON {
        let nodes = properties.map { name, about, node in
            var described: JSON = ["description": JSON(about)]
            for (name, value) in node.members ?? [] { described[name] = value }
            return (name, described)
        }
        return ["type": "object", "properties": JSON(members: nodes)]
    }
}

/// What kind of plugin `sluice plugin new` begins.
public enum ScaffoldKind: String, Sendable, Hashable, CaseIterable {
    /// Decides conflicts.
    case conflict
    /// Stands around requests.
    case filter
    /// Sees requests before they are sent.
    case request
    /// Sees answers.
    case response
    /// Looks at local writes.
    case beforeEnqueue = "before_enqueue"
    /// Looks at operations before they are sent.
    case beforePush = "before_push"
    /// Decides about operations that failed.
    case pushError = "push_error"
    /// Looks at pulled records.
    case afterPull = "after_pull"
    /// Has a say in when to synchronise.
    case schedule
    /// Stands around the requests for a table of a server.
    case table
}

public import SluiceBase
internal import SluiceWire

/// Which operations of the queue: those that meet all that is set here.
///
/// ```swift
/// let held = try await context.queue.operations(QueueFilter(states: [.parked, .dead], table: "todos"))
/// ```
public struct QueueFilter: Sendable, Hashable {
    /// In one of these states; none means in any.
    public var states: Set<TableOperation.State>
    /// Of this table.
    public var table: String?
    /// On this record.
    public var recordID: RecordID?
    /// With this tag.
    public var tag: String?
    /// Of this group.
    public var group: String?

    /// A filter; without arguments it takes all.
    public init(
        states: Set<TableOperation.State> = [], table: String? = nil, recordID: RecordID? = nil, tag: String? = nil,
        group: String? = nil
    ) {
        self.states = states
        self.table = table
        self.recordID = recordID
        self.tag = tag
        self.group = group
    }

    /// What the store can look for; ``matches(_:)`` says the rest.
    var expression: QueryExpression? {
        var parts: [QueryExpression] = []
        let wanted: [(PropertyName, String?)] = [("table", table), ("record", recordID?.text), ("group", group)]
        for (column, value) in wanted {
            if let value { parts.append(Self.equals(column, value)) }
        }
        let states = states.map { Self.equals("state", $0.rawValue) }
        if let first = states.first { parts.append(states.dropFirst().reduce(first) { .binary(.or, $0, $1) }) }
        return parts.first.map { parts.dropFirst().reduce($0) { .binary(.and, $0, $1) } }
    }

    /// Whether the operation has the tag.
    func matches(_ operation: TableOperation) -> Bool { tag.map(operation.tags.contains) ?? true }

    private static func equals(_ column: PropertyName, _ value: String) -> QueryExpression {
        .binary(.eq, .column(column), .literal(.string(value)))
    }
}

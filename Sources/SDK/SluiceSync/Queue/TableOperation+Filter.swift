public import SluiceBase
internal import SluiceWire

extension TableOperation {
    /// A filter of the queue's operations. An operation matches if it meets all conditions set here.
    ///
    /// ```swift
    /// let held = try await context.queue.operations(TableOperation.Filter(states: [.parked, .dead], table: "todos"))
    /// ```
    public struct Filter: Sendable, Hashable {
        /// The states to match; empty matches any.
        public var states: Set<TableOperation.State>
        /// The table to match.
        public var table: String?
        /// The record to match.
        public var recordID: RecordID?
        /// The tag to match.
        public var tag: String?
        /// The group to match.
        public var group: String?

        /// A filter; without arguments it matches all operations.
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

        /// The conditions that the store can evaluate; ``matches(_:)`` checks the tag.
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

        /// Whether the operation has the tag, if one is set.
        func matches(_ operation: TableOperation) -> Bool { tag.map(operation.tags.contains) ?? true }

        private static func equals(_ column: PropertyName, _ value: String) -> QueryExpression {
            .binary(.eq, .column(column), .literal(.string(value)))
        }
    }
}

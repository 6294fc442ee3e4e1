public import SluiceBase

/// The bounds of a probe, beyond which it ends with what it has seen.
public struct ProbeBounds: Sendable, Hashable {
    /// The largest number of requests on the wire. Default 500.
    public var requests = 500
    /// The longest time. Default 120 s.
    public var duration = Duration.seconds(120)
    /// The largest number of rows that the trial pull reads. Default 1,000.
    public var rows = 1000

    /// The defaults.
    public init() {}
}

/// The subject of a probe.
public struct ProbeOptions: Sendable {
    /// The table to read.
    public var table: String
    /// The table to write to; nil to write nothing.
    public var scratch: String?
    /// The columns of the scratch table. Empty to take them from the service's description, else from the table's
    /// rows, else `text`, `number`, `amount`, `flag` and `at`.
    public var columns: [TableSchema.Column] = []
    /// The bounds.
    public var bounds = ProbeBounds()

    /// A probe of that table, which only reads.
    public init(table: String) { self.table = table }
}

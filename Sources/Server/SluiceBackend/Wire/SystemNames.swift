internal import SluiceCore

/// What the clients of a wire call the columns that the server keeps. A wire without one of them does not show it.
struct SystemNames: Sendable {
    /// The stored name and the wire's, in the order in which answers have them.
    private let pairs: [(stored: PropertyName, wire: PropertyName)]

    /// The columns whose names on the wire have that prefix, in all but those of `hidden`.
    init(prefix: String = "", hidden: Set<PropertyName> = []) {
        pairs = SystemColumn.all.filter { !hidden.contains($0) }.map { ($0, PropertyName(prefix + $0.text)) }
    }

    /// The wire's names.
    var wire: [PropertyName] { pairs.map(\.wire) }

    /// The wire's name of a stored column; nil where the wire has none.
    func wire(_ stored: PropertyName) -> PropertyName? { pairs.first { $0.stored == stored }?.wire }

    /// The stored name of a column that the wire calls so; nil if it is no column of the server's.
    func stored(_ wire: PropertyName) -> PropertyName? { pairs.first { $0.wire == wire }?.stored }

    /// Whether a body's member of that name would touch what the server keeps: a system column by either name, or
    /// what begins as the wire's system columns do.
    func isReserved(_ name: PropertyName) -> Bool {
        SystemColumn.all.contains(name) || wire.contains(name) || name.text.hasPrefix("__")
    }
}

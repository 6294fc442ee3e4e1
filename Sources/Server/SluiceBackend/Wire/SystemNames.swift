internal import SluiceCore

/// The names of the server's columns on a wire. A wire does not show a column without a name.
struct SystemNames: Sendable {
    /// The stored names with the wire's, in the order of answers.
    private let pairs: [(stored: PropertyName, wire: PropertyName)]

    /// Creates the names with a prefix, for all columns except `hidden`.
    init(prefix: String = "", hidden: Set<PropertyName> = []) {
        pairs = SystemColumn.all.filter { !hidden.contains($0) }.map { ($0, PropertyName(prefix + $0.text)) }
    }

    /// The wire's names.
    var wire: [PropertyName] { pairs.map(\.wire) }

    /// Returns the wire's name of a stored column; nil if the wire has none.
    func wire(_ stored: PropertyName) -> PropertyName? { pairs.first { $0.stored == stored }?.wire }

    /// Returns the stored name for a wire's name; nil if it is no column of the server's.
    func stored(_ wire: PropertyName) -> PropertyName? { pairs.first { $0.wire == wire }?.stored }

    /// Whether a body's member of that name is reserved: a system column by either name, or a name with the prefix of
    /// system columns.
    func isReserved(_ name: PropertyName) -> Bool {
        SystemColumn.all.contains(name) || wire.contains(name) || name.text.hasPrefix("__")
    }
}

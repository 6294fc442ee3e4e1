internal import SluiceBase
internal import Synchronization

/// The tables whose lists show less of a record than the record by its id does: without its version, without some
/// properties, with null in their place, or with a part of a text. An update that replaces such a listed record would
/// remove what the list left out. They are kept for the context's life.
final class PartialLists: Sendable {
    private struct Table {
        var isPartial: Bool?
        /// Whether a record by its id had a version, and how many had none.
        var hasVersions = false
        var unversioned = 0
        /// The properties that compared records had, with the sizes of their largest values, and those that one of the
        /// records lacked in both forms.
        var sizes: [PropertyName: Int] = [:]
        var lacked: Set<PropertyName> = []
        /// The numbers of compared records that had null in both forms.
        var nulls: [PropertyName: Int] = [:]
    }

    /// The number of records without a version after which no other is asked for one.
    private static let mostUnversioned = 10
    /// The number of records with null after which null in a list is believed.
    private static let provingNulls = 3

    private let known = Mutex<[ExactName: Table]>([:])

    /// Returns whether the table's lists are partial; nil if no record was compared yet.
    func isPartial(_ table: String) -> Bool? { known.withLock { $0[ExactName(table)]?.isPartial } }

    /// Returns whether records of the table have versions by their ids that its lists lack; nil if none was asked for.
    func hasVersions(_ table: String) -> Bool? {
        known.withLock { known in
            guard let table = known[ExactName(table)] else { return nil }
            return table.hasVersions ? true : table.unversioned < Self.mostUnversioned ? nil : false
        }
    }

    /// Notes whether a record by its id has a version that its list lacked.
    func note(_ table: String, hasVersions: Bool) {
        known.withLock { known in
            if hasVersions { known[ExactName(table), default: Table()].hasVersions = true }
            if !hasVersions { known[ExactName(table), default: Table()].unversioned += 1 }
        }
    }

    /// Whether the listed record is whole by the compared ones. A property that it lacks may be left out by the list,
    /// unless a comparison has shown that rows lack it themselves; a value that is larger than those compared may be cut
    /// short.
    func hasAll(_ record: JSON, of table: String) -> Bool {
        known.withLock { known in
            guard let table = known[ExactName(table)] else { return false }
            return Set(table.sizes.keys).subtracting(table.lacked).isSubset(of: record.names)
                && (record.members ?? []).allSatisfy { name, value in
                    value.isNull
                        ? table.nulls[name] ?? 0 >= Self.provingNulls : table.sizes[name] ?? -1 >= Self.size(of: value)
                }
        }
    }

    /// Notes the two forms of one version of a record. Lists that were partial once stay so.
    func note(_ table: String, listed: JSON, byID record: JSON) {
        let held = (record.members ?? []).filter { !$0.value.isNull }
        let empty = record.names.filter { record[$0] == .null }
        known.withLock { known in
            var noted = known[ExactName(table)] ?? Table()
            noted.isPartial = noted.isPartial ?? false
            if held.contains(where: { listed[$0.name] != $0.value }) { noted.isPartial = true }
            noted.lacked.formUnion(Set(noted.sizes.keys).subtracting(held.map(\.name)).subtracting(listed.names))
            for (name, value) in held { noted.sizes[name] = max(noted.sizes[name] ?? 0, Self.size(of: value)) }
            for name in empty where listed[name] ?? .null == .null { noted.nulls[name, default: 0] += 1 }
            known[ExactName(table)] = noted
        }
    }

    /// Returns the size of a value that a list may cut short, in bytes; 0 for any other value.
    private static func size(of value: JSON) -> Int {
        switch value.kind {
        case .string: value.string?.utf8.count ?? 0
        case .array, .object: value.description.utf8.count
        default: 0
        }
    }
}

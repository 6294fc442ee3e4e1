public import SluiceBase
internal import SluiceWire

/// What a read came to, and what can be said of it.
public struct StoreResult: Sendable, Hashable {
    /// Where the records come from.
    public enum Source: String, Sendable, Hashable, CaseIterable {
        /// From the local store, which has the whole answer as of ``StoreResult/asOf``.
        case localComplete
        /// From the local store, which may lack some records or properties.
        case localPartial
        /// From the service, just now.
        case remote
        /// From the service, with local changes that wait in the queue in the place of the service's records; or one part
        /// from the service and another from the local store.
        case merged
    }

    /// Where the answer comes from, how old it is, and why.
    public struct Provenance: Sendable, Hashable {
        /// Where it comes from.
        public var source: Source
        /// When the service was asked: for a local answer, the oldest download that it depends on. Nil where nothing was
        /// ever downloaded.
        public var asOf: Timestamp?
        /// The reasons, each one sentence.
        public var reasons: [String]

        /// A provenance.
        public init(_ source: Source, asOf: Timestamp?, reasons: [String]) {
            self.source = source
            self.asOf = asOf
            self.reasons = reasons
        }

        /// That of an answer which depends on both.
        func joined(_ other: Provenance) -> Provenance {
            let source: Source =
                if self.source == other.source {
                    self.source
                } else if self.source == .localPartial || other.source == .localPartial {
                    .localPartial
                } else {
                    .merged
                }
            let isKnown = asOf != nil && other.asOf != nil
            return Provenance(
                source, asOf: isKnown ? [asOf, other.asOf].compactMap { $0 }.min() : nil,
                reasons: reasons + other.reasons.filter { !reasons.contains($0) })
        }
    }

    /// The records: of a set all that were asked for, of a record that one, of a link to nothing none.
    public var records: [JSON]
    /// How many records match in all, where that was asked.
    public var count: Int?
    /// The value of a property, of `$count`, or of a function; nil for records.
    public var value: JSON?
    /// Where the answer comes from, how old it is, and why.
    public var provenance: Provenance

    /// A result.
    public init(records: [JSON], count: Int? = nil, value: JSON? = nil, provenance: Provenance) {
        self.records = records
        self.count = count
        self.value = value
        self.provenance = provenance
    }

    /// The only record, or the first.
    public var record: JSON? { records.first }
    /// Where the answer comes from.
    public var source: Source { provenance.source }
    /// When the service was asked; see ``Provenance/asOf``.
    public var asOf: Timestamp? { provenance.asOf }
    /// Whether nothing that was asked for is missing.
    public var isComplete: Bool { source != .localPartial }
    /// Why the answer comes from where it does, in one line.
    public var explain: String { "\(source.rawValue): \(provenance.reasons.joined(separator: "; "))" }

    /// How old the answer is; nil where nothing was ever downloaded.
    public func age(at now: Timestamp) -> Duration? { asOf.map { max(.zero, $0.duration(to: now)) } }

    /// The records that fit a type, as values of it.
    public func records<Record: Decodable>(of type: Record.Type) -> [Record] { sorted(type).records }

    /// An error of code `invalidRecord`, with the `DecodingError` as cause, for each record that does not fit the type.
    public func misfits<Record: Decodable>(of type: Record.Type) -> [SluiceError] { sorted(type).misfits }

    private func sorted<Record: Decodable>(_ type: Record.Type) -> (records: [Record], misfits: [SluiceError]) {
        let sorted = RecordCoder(DeclaredProperties(of: type), asIn: []).sorted(type, records, table: nil)
        return (sorted.records, sorted.misfits)
    }
}

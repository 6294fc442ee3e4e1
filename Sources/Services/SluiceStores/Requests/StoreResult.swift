public import SluiceBase
internal import SluiceWire

/// The result of a read, with its provenance.
public struct StoreResult: Sendable, Hashable {
    /// The source of the records.
    public enum Source: String, Sendable, Hashable, CaseIterable {
        /// From the local store, which has the whole answer as of ``StoreResult/asOf``.
        case localComplete
        /// From the local store, which may lack some records or properties.
        case localPartial
        /// From the service, with the current state.
        case remote
        /// From the service, with queued local changes in the place of the service's records; or one part from the
        /// service and another from the local store.
        case merged
    }

    /// The source of the answer, its age, and the reasons.
    public struct Provenance: Sendable, Hashable {
        /// The source of the answer.
        public var source: Source
        /// The time at which the service was asked: for a local answer, the oldest download that it depends on. Nil if
        /// nothing was ever downloaded.
        public var asOf: Timestamp?
        /// The reasons, each one sentence.
        public var reasons: [String]

        /// Creates a provenance.
        public init(_ source: Source, asOf: Timestamp?, reasons: [String]) {
            self.source = source
            self.asOf = asOf
            self.reasons = reasons
        }

        /// Returns the provenance of an answer that depends on both.
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

    /// The records: all requested ones of a set, the single one of a record, none of a link to nothing.
    public var records: [JSON]
    /// The number of all matching records, if it was requested.
    public var count: Int?
    /// The value of a property, of `$count`, or of a function; nil for records.
    public var value: JSON?
    /// The source of the answer, its age, and the reasons.
    public var provenance: Provenance

    /// Creates a result.
    public init(records: [JSON], count: Int? = nil, value: JSON? = nil, provenance: Provenance) {
        self.records = records
        self.count = count
        self.value = value
        self.provenance = provenance
    }

    /// The only record, or the first.
    public var record: JSON? { records.first }
    /// The source of the answer.
    public var source: Source { provenance.source }
    /// The time at which the service was asked; see ``Provenance/asOf``.
    public var asOf: Timestamp? { provenance.asOf }
    /// Whether no requested record or property is missing.
    public var isComplete: Bool { source != .localPartial }
    /// The reasons for the answer's source, in one line.
    public var explain: String { "\(source.rawValue): \(provenance.reasons.joined(separator: "; "))" }

    /// Returns the age of the answer; nil if nothing was ever downloaded.
    public func age(at now: Timestamp) -> Duration? { asOf.map { max(.zero, $0.duration(to: now)) } }

    /// Returns the records that fit a type, as values of it.
    public func records<Record: Decodable>(of type: Record.Type) -> [Record] { sorted(type).records }

    /// Returns an error of code `invalidRecord`, with the `DecodingError` as cause, for each record that does not fit
    /// the type.
    public func misfits<Record: Decodable>(of type: Record.Type) -> [SluiceError] { sorted(type).misfits }

    private func sorted<Record: Decodable>(_ type: Record.Type) -> (records: [Record], misfits: [SluiceError]) {
        let sorted = RecordCoder<Record>(nil, asIn: []).sorted(records)
        return (sorted.records, sorted.misfits)
    }
}

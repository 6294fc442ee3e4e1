internal import SluiceBase
internal import SluiceWire
internal import Synchronization

/// A way in which a server writes a value differently from the sent one.
enum WrittenForm: Sendable, Hashable, CaseIterable {
    /// 5 becomes "5".
    case numberAsText
    /// "5" becomes 5.
    case textAsNumber
    /// 9007199254740993 becomes 9007199254740992, which is the same double.
    case rounded
    /// "milk " becomes "milk".
    case trimmed
    /// "2026-05-06T07:08:09Z" becomes "2026-05-06T07:08:09.000Z".
    case sameInstant

    /// Whether the server may have written the sent value as the other one.
    func leads(from sent: JSON, to written: JSON) -> Bool {
        switch self {
        case .numberAsText: sent.number.map { $0.description == written.string } ?? false
        case .textAsNumber: written.number.map { $0.description == sent.string } ?? false
        case .rounded:
            if let sent = sent.number, let written = written.number, sent != written,
                let double = Double(sent.description), double.isFinite
            {
                Double(written.description) == double
            } else {
                false
            }
        case .sameInstant:
            if let sent = sent.string, let written = written.string, let instant = Timestamp(sent) {
                sent != written && Timestamp(written) == instant
            } else {
                false
            }
        case .trimmed: sent.string.map { $0 != written.string && $0.withoutOuterBlanks == written.string } ?? false
        }
    }
}

/// The known ways in which the server writes the values of each property, learnt from answers to changes. With them a
/// change is recognised whose answer is lost later. They are kept for the context's life.
final class WrittenForms: Sendable {
    private let known = Mutex<[ExactName: [PropertyName: Set<WrittenForm>]]>([:])

    /// Returns the known ways of a table's properties.
    func known(in table: String) -> [PropertyName: Set<WrittenForm>] { known.withLock { $0[ExactName(table)] ?? [:] } }

    /// Learns from the server's record in its answer to a change.
    func learn(from sent: JSON, writtenAs record: JSON, in table: String) {
        for (name, value) in sent.members ?? [] {
            guard let written = record[name], written != value,
                let form = WrittenForm.allCases.first(where: { $0.leads(from: value, to: written) })
            else { continue }
            known.withLock { _ = $0[ExactName(table), default: [:]][name, default: []].insert(form) }
        }
    }
}

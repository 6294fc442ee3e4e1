/// The answer whether a local store filled by defining requests can answer a request completely, with the reasons.
///
/// ```swift
/// let checker = CoverageChecker(requests, schemas: [agencies, bookings])
/// let coverage = checker.coverage(of: try ODataOptions("$filter=Country eq 'US' and Rank gt 3"), in: "Agencies")
/// print(coverage)   // covered: every record that is asked for is in "agencies"
/// ```
public enum Coverage: Sendable, Hashable, CustomStringConvertible {
    /// Every record of the answer is in the store, and no other is found. The names are those of the defining requests
    /// that the proof needs, the texts are the proof.
    case covered(by: [String], because: [String])
    /// Completeness cannot be proved. The texts name the missing parts; the example, if there is one, describes a
    /// requested record that no defining request is certain to bring.
    case uncovered(because: [String], example: String?)

    /// Whether the local store has the whole answer.
    public var isCovered: Bool {
        if case .covered = self { true } else { false }
    }

    /// The reasons, each one sentence, and the example.
    var reasons: [String] {
        switch self {
        case .covered(_, let reasons): reasons
        case .uncovered(let reasons, let example): reasons + (example.map { ["for example where \($0)"] } ?? [])
        }
    }

    /// The result and its reasons, in one line.
    public var description: String {
        switch self {
        case .covered(_, let reasons): "covered: \(reasons.joined(separator: "; "))"
        case .uncovered(let reasons, let example):
            "not covered: \(reasons.joined(separator: "; "))" + (example.map { "; for example where \($0)" } ?? "")
        }
    }
}

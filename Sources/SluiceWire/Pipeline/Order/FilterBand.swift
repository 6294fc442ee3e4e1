/// A stretch of the chain of filters. All that stands in one band is outside of all that stands in the next.
public enum FilterBand: String, Sendable, Hashable, CaseIterable, Comparable {
    /// Who asks: tokens, signatures, tenants.
    case auth
    /// What has to see the request before the others change it.
    case early
    /// Everything that declares no place.
    case `default`
    /// What has to see the request as the others have left it.
    case late
    /// What only looks: counters, traces, logs.
    case observe

    /// Whether the band is outside of the other.
    public static func < (left: FilterBand, right: FilterBand) -> Bool { left.index < right.index }

    private var index: Int {
        switch self {
        case .auth: 0
        case .early: 1
        case .default: 2
        case .late: 3
        case .observe: 4
        }
    }
}

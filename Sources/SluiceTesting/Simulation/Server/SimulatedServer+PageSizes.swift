/// How many rows the server sends at once.
extension SimulatedServer {
    /// What some servers say to be the most, and some do not get done in time.
    static let fewRows = 2

    /// Whether a page that is asked for may not come because it is too large.
    var limitsPages: Bool {
        !setting.habits.isDisjoint(with: [.refusesLargePages, .failsLargePages, .hasLargeRows])
    }

    /// The size of a page; nil where so many may not be asked for.
    func pageSize(_ top: Int?, _ state: State) -> Int? {
        if setting.habits.contains(.refusesLargePages), let top, top > Self.fewRows { return nil }
        let most = setting.habits.contains(.variesPages) ? 1 + luck.below(state.page) : state.page
        return min(top ?? most, most)
    }

    /// Whether the server gets a page of so many rows done.
    func isSendable(_ count: Int) -> Bool { !setting.habits.contains(.failsLargePages) || count <= Self.fewRows }
}

internal import SluiceCore
internal import SluiceOData

/// What plain servers and applications do.
extension StoryGenerator {
    /// The faults and habits that are drawn here, in this order.
    static let plainFaults: [SimulationFault] = [.staleRead, .errorBesideRows, .staysBusy, .tableFails]
    static let plainHabits: [SimulationHabit] = [
        .keepsAuthors, .untimedFirst, .untimedLast, .refusesLargePages, .variesPages, .failsLargePages, .hasLargeRows,
        .capitalIDs, .sortsWithoutCase,
    ]

    /// Draws them from another source, so that the stories without them stay as they are.
    func drawTraits(_ setting: inout SimulationSetting) {
        var random = SeededGenerator(seed: seed &* 0xD134_2543_DE82_EF95 &+ 7)
        func isDrawn() -> Bool { Int.random(in: 0...11, using: &random) == 0 }
        for fault in Self.plainFaults {
            let probability = [0.1, 0.3][Int.random(in: 0...1, using: &random)]
            if isDrawn(), configuration.faults.contains(fault) { setting.faults[fault] = probability }
        }
        for habit in Self.plainHabits where isDrawn() && configuration.habits.contains(habit) {
            setting.habits.insert(habit)
        }
        setting.reconsiders = isDrawn()
        setting.tidiesPages = isDrawn()
        agree(&setting)
    }

    /// Takes away what nobody could tell from something else, and adds what a trait shows in.
    private func agree(_ setting: inout SimulationSetting) {
        if setting.faults[.staysBusy] != nil { setting.attempts = 3 }
        if setting.faults[.staleRead] != nil {
            // The time by which a replica may be behind, and the order of times by which that is seen.
            for fault in [SimulationFault.lateCommit, .clockBack, .clockSetBack] { setting.faults[fault] = nil }
        }
        if setting.habits.contains(.capitalIDs) {
            setting.habits.remove(.hasTwinIDs)
            // A column that names a record has the case in which it was written.
            if setting.dependency == .column { setting.dependency = .none }
            // The type of the keys of a service says how they are compared.
            if ODataVersion(rawValue: setting.wire) != nil { setting.habits.remove(.capitalIDs) }
        }
        if setting.habits.contains(.untimedFirst) { setting.habits.remove(.untimedLast) }
    }
}

internal import SluiceCore
internal import SluiceOData

/// Creates the story of a seed.
struct StoryGenerator {
    let seed: UInt64
    let configuration: SimulationConfiguration
    private var random: SeededGenerator

    init(seed: UInt64, configuration: SimulationConfiguration) {
        self.seed = seed
        self.configuration = configuration
        random = SeededGenerator(seed: seed &* 0x2545_F491_4F6C_DD1D &+ 1)
    }

    mutating func story() -> SimulationStory {
        let setting = self.setting()
        let count = number(configuration.actions)
        var kinds = isHasty ? Self.hastyKinds : Self.kinds(setting)
        if setting.reconsiders { kinds += Array(repeating: .reconsider, count: 8) }
        let actions = (0..<count).map { [kinds] index in
            var action = action(kinds, setting.devices)
            if isContested, action.seed % 4 > 0 {
                (action.device, action.choice) = (0, action.choice / 240 * 240 + 6)
                action.kind = Self.plot[index % Self.plot.count]
            }
            return action
        }
        return SimulationStory(seed: seed, setting: setting, actions: actions)
    }

    /// Whether the story changes one record again and again while answers are lost: sent operations are changed,
    /// deleted, inserted again or discarded before their outcome is known.
    private var isHasty: Bool { seed % 5 == 1 }

    /// Whether other clients change that record too, and it is pulled before sent operations are discarded.
    private var isContested: Bool { seed % 10 == 6 }

    /// The most frequent actions of such a story, in a loop.
    private static let plot: [SimulationAction.Kind] = [.pull, .update, .push, .update, .serverEdit, .pull, .discard]

    private static let hastyKinds = list([
        (.update, 10), (.delete, 11), (.insert, 11), (.discard, 7), (.undo, 2), (.push, 14), (.pull, 3),
        (.undelete, 2), (.restart, 1), (.retry, 2), (.serverEdit, 2), (.wait, 1),
    ])

    /// Returns the choice limited to the first record, or to the oldest operation and its record.
    private static func narrowed(_ choice: Int, _ kind: SimulationAction.Kind) -> Int {
        kind == .discard || kind == .undo ? 0 : choice / 48 * 48 + choice % 8
    }

    private mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }
    private mutating func one<Element>(of elements: [Element]) -> Element { elements[number(0...elements.count - 1)] }

    private mutating func setting() -> SimulationSetting {
        var setting = SimulationSetting()
        setting.devices = number(configuration.devices)
        setting.wire = one(of: configuration.wires).name
        setting.store = number(0...configuration.stores.count - 1)
        setting.serverPage = one(of: [1, 2, 3, 5, 8, 50])
        setting.devicePage = one(of: [1, 2, 4, 50])
        setting.commitLag = one(of: [10, 30, 30, 300])
        setting.policy = configuration.conflictPolicy ?? one(of: [.clientWins, .serverWins, .hold])
        setting.handler = configuration.conflictHandlers.isEmpty ? number(0...SimulatedHandler.kinds - 1) : 0
        setting.attempts = one(of: [1, 1, 3])
        setting.queries = one(of: [1, 1, 2, 3])
        setting.grain = min(one(of: [1, 1, 1000, 5000]), setting.commitLag * 1000 / 4)
        setting.digits = one(of: [3, 3, 7])
        setting.shuffles = number(0...2) == 0
        setting.remembersRequests = number(0...3) == 0
        setting.takesBatches = number(0...1) == 0
        setting.batchSize = one(of: [1, 1, 4])
        setting.concurrency = one(of: [1, 1, 3])
        setting.tracksChanges = number(0...3) == 0
        setting.breaksTies = number(0...3) > 0
        setting.offersDigests = number(0...1) == 0
        setting.deletesForGood = number(0...3) == 0
        setting.reconcileEvery = [nil, nil, 1, 3][number(0...3)]
        setting.usesTokens = number(0...2) == 0
        setting.users = number(0...3) == 0 ? 2 : 1
        setting.makesGroups = number(0...3) == 0
        if setting.makesGroups { (setting.takesBatches, setting.batchSize) = (true, 4) }
        setting.keepsApart = number(0...5) == 0
        setting.repairs = number(0...2) == 0
        setting.handsOver = setting.users > 1 && number(0...1) == 0
        setting.restoresBackups = number(0...11) == 0
        setting.hookMishaps = number(0...7) == 0 ? 0.1 : 0
        for trait in ServerTrait.allCases
        where Self.traitsOfSeeds[trait] == nil && !Self.plainTraits.contains(trait) {
            if configuration.traits.contains(trait), number(0...11) == 0 { setting.traits.insert(trait) }
        }
        setting.dependency = one(of: [.none, .none, .column, .table])
        for fault in SimulationFault.allCases
        where configuration.faults.contains(fault) && fault != .storeTrouble && !Self.plainFaults.contains(fault) {
            // A random subset, so that no fault hides behind another.
            if number(0...2) == 0 { setting.faults[fault] = one(of: [0.02, 0.1, 0.3]) }
        }
        if setting.traits.contains(.clockAhead) {
            // The trait matters only where rows are committed late.
            if configuration.faults.contains(.lateCommit) { setting.faults[.lateCommit] = 0.3 }
            // A device cannot see how far the row clock is if it was set back before the device's first pull.
            setting.faults[.clockSetBack] = nil
        }
        setting.skews = (0..<setting.devices).map { _ in
            setting.faults[.clockSkew] == nil ? 0 : number(-315_360_000...315_360_000)
        }
        // Not drawn: another random number would change all stories.
        setting.keepsMemos = seed % 5 == 2
        setting.makesTransactions = seed % 9 == 4
        if seed % 6 == 5 { setting.queuePart = Int(seed / 6 % 4) + 1 }
        if seed % 8 == 3, setting.batchSize == 1 { (setting.takesBatches, setting.batchSize) = (true, 0) }
        setting.tellsTime = seed % 7 != 3
        setting.restartsToHeal = seed % 3 != 1
        for (trait, rest) in Self.traitsOfSeeds where configuration.traits.contains(trait) && seed % 13 == rest {
            setting.traits.insert(trait)
        }
        if isContested { setting.queries = 1 }
        if isHasty {
            for fault in [SimulationFault.dropAnswer, .lateRequest] where configuration.faults.contains(fault) {
                setting.faults[fault] = 0.3
            }
        }
        if configuration.faults.contains(.storeTrouble), seed % 4 == 1 {
            setting.faults[.storeTrouble] = seed % 8 == 1 ? 0.02 : 0.1
        }
        if ODataVersion(rawValue: setting.wire) != nil { beService(&setting) }
        drawTraits(&setting)
        return setting
    }

    /// Draws the traits of an OData service from another generator, so that the stories of other wires stay unchanged.
    private func beService(_ setting: inout SimulationSetting) {
        var random = SeededGenerator(seed: seed &* 0x9E37_79B9_7F4A_7C15 &+ 3)
        func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }
        setting.tracksChanges = number(0...2) > 0
        for trait in ServiceTrait.allCases where number(0...4) == 0 { setting.service.insert(trait) }
        setting.offersDigests = false
        // The service announces no batch size.
        if setting.batchSize == 0 { setting.batchSize = 4 }
        // Here tags are opaque, numbers have declared types, and every row follows the metadata.
        setting.traits.subtract([.marksTags, .keepsTexts, .hasOddRows, .shufflesTies])
    }

    /// Traits that are not drawn either, with the remainder of their seeds.
    private static let traitsOfSeeds: [ServerTrait: UInt64] = [.hasTwinIDs: 4]

    private mutating func action(_ kinds: [SimulationAction.Kind], _ devices: Int) -> SimulationAction {
        let (kind, device, choice) = (one(of: kinds), number(0...devices - 1), number(0...1 << 20))
        return SimulationAction(
            kind, device: device, choice: isHasty ? Self.narrowed(choice, kind) : choice, seed: random.next(),
            pace: one(of: [0, 0, 1, 2, 4, 12]))
    }

    /// Returns the possible kinds of actions in such a world, repeated by their frequency.
    private static func kinds(_ setting: SimulationSetting) -> [SimulationAction.Kind] {
        var kinds = Self.kinds
        if setting.makesGroups { kinds += Array(repeating: .group, count: 10) }
        if setting.makesTransactions { kinds += Array(repeating: .transaction, count: 12) }
        if setting.repairs { kinds += Self.repairs }
        if setting.handsOver { kinds += Array(repeating: .handOver, count: 2) }
        if setting.restoresBackups { kinds += [.backup, .backup, .restoreBackup] }
        // A full read without a name may be answered by a replica that lags: see docs/pull.md.
        if setting.faults[.staleRead] != nil { kinds.removeAll { $0 == .pullAll } }
        if setting.users > 1 { kinds += Array(repeating: .switchUser, count: 2) }
        return kinds
    }

    /// The relative frequency of each kind.
    private static let kinds =
        list([
            (.insert, 8), (.update, 16), (.delete, 7), (.undelete, 3), (.move, 4), (.push, 14), (.pull, 12),
            (.pullAll, 2), (.reconcile, 2), (.discard, 2), (.undo, 1), (.retry, 2), (.restart, 2), (.cancel, 2),
            (.serverEdit, 8), (.serverDelete, 3), (.serverBatch, 3), (.offline, 1), (.wait, 4),
        ]) + [.purge]

    /// The relative frequency of each operator action.
    private static let repairs = list([
        (.amend, 4), (.changeKind, 3), (.resolve, 6), (.transfer, 4), (.purgeNamed, 2), (.reword, 1),
    ])

    private static func list(_ weights: [(SimulationAction.Kind, Int)]) -> [SimulationAction.Kind] {
        weights.flatMap { Array(repeating: $0.0, count: $0.1) }
    }
}

/// Traits of plain servers and applications.
extension StoryGenerator {
    /// The faults and traits that are drawn here, in this order.
    static let plainFaults: [SimulationFault] = [.staleRead, .errorBesideRows, .staysBusy, .tableFails]
    static let plainTraits: [ServerTrait] = [
        .keepsAuthors, .untimedFirst, .untimedLast, .refusesLargePages, .variesPages, .failsLargePages, .hasLargeRows,
        .capitalIDs, .sortsWithoutCase,
    ]

    /// Draws them from another generator, so that the stories without them stay unchanged.
    func drawTraits(_ setting: inout SimulationSetting) {
        var random = SeededGenerator(seed: seed &* 0xD134_2543_DE82_EF95 &+ 7)
        func isDrawn() -> Bool { Int.random(in: 0...11, using: &random) == 0 }
        for fault in Self.plainFaults {
            let probability = [0.1, 0.3][Int.random(in: 0...1, using: &random)]
            if isDrawn(), configuration.faults.contains(fault) { setting.faults[fault] = probability }
        }
        for trait in Self.plainTraits where isDrawn() && configuration.traits.contains(trait) {
            setting.traits.insert(trait)
        }
        setting.reconsiders = isDrawn()
        setting.tidiesPages = isDrawn()
        // Services read bodies in other formats, and this codec only JSON.
        setting.translates = isDrawn() && ODataVersion(rawValue: setting.wire) == nil && configuration.filters.isEmpty
        // Only servers of these wires have had SDKs with stores of their own.
        setting.adopts = isDrawn() && ODataVersion(rawValue: setting.wire) == nil
        agree(&setting)
    }

    /// Removes traits that a device could not tell apart, and adds the settings that a trait needs to show.
    private func agree(_ setting: inout SimulationSetting) {
        if setting.faults[.staysBusy] != nil { setting.attempts = 3 }
        if setting.faults[.staleRead] != nil {
            // These faults would hide how far a replica is behind, which only the order of times shows.
            for fault in [SimulationFault.lateCommit, .clockBack, .clockSetBack] { setting.faults[fault] = nil }
            for trait in [ServerTrait.untimedFirst, .untimedLast] { setting.traits.remove(trait) }
            // A replica that has not received the row would confirm a false 404.
            setting.faults[.falseNotFound] = nil
        }
        if setting.traits.contains(.capitalIDs) {
            setting.traits.remove(.hasTwinIDs)
            // A column that names a record keeps the case in which it was written.
            if setting.dependency == .column { setting.dependency = .none }
            // The key type of a service determines the comparison.
            if ODataVersion(rawValue: setting.wire) != nil { setting.traits.remove(.capitalIDs) }
        }
        // A page with a single row does not show the order.
        if setting.serverPage == 1 || setting.traits.contains(.variesPages) || setting.faults[.pageSize] != nil {
            setting.traits.remove(.sortsWithoutCase)
        }
        if setting.traits.contains(.untimedFirst) { setting.traits.remove(.untimedLast) }
        // A page with such a row cannot be translated.
        if setting.translates { setting.traits.remove(.hasOddRows) }
        // An old store has neither memos nor values in another form.
        if setting.keepsMemos || setting.translates || setting.traits.contains(.capitalIDs) { setting.adopts = false }
    }
}

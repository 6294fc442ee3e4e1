internal import HTTPTypes
internal import SluiceCore
internal import Synchronization

/// Plays one story. It begins the actions, delivers requests, answers and timers in a random order that follows from
/// the seed, restarts ended processes, and at the end turns faults off.
final class SimulationWorld {
    let parts: SimulationParts
    let story: SimulationStory
    private(set) var devices: [SimulatedDevice] = []
    private let tasks: SimulationTasks
    private var events = 0
    /// The busy answers that remain for each device's changes.
    var busy: [Int: SimulatedBusyness] = [:]

    init(_ story: SimulationStory, _ configuration: SimulationConfiguration, keepsTrace: Bool) throws {
        self.story = story
        parts = try SimulationParts(story, configuration, keepsTrace: keepsTrace)
        tasks = SimulationTasks(parts.executor)
    }

    /// Plays the story to its end, or to the first invariant that does not hold.
    func play() {
        // A device's context refers to the device, a cycle that would keep both.
        defer { for device in devices { device.letGo() } }
        do {
            try setUp()
            for action in story.actions {
                try act(action)
            }
            try settleDown()
            try heal()
        } catch {
            if let violation = error as? SimulationViolation {
                parts.oracle.violate(violation.invariant, violation.message)
            } else {
                parts.oracle.violate(.progress, "the simulation itself failed: \(error)")
            }
            // Waiting tasks have to end, or they would never be freed.
            for device in devices { end(device) }
        }
    }

    private func setUp() throws {
        let kind = parts.configuration.stores[story.setting.store % parts.configuration.stores.count]
        let zeros = parts.setting.fields.members(["a": 0, "b": 0])
        parts.server.edit(
            "items", (0..<5).map { (parts.setting.id($0), JSON(members: [("group", JSON($0 % 3))] + zeros)) })
        parts.server.edit("notes", [(parts.setting.id(0), JSON(members: zeros))])
        if parts.setting.traits.contains(.hasOddRows) { parts.server.editOddRows() }
        let stores = Mutex<[@Sendable () throws -> any LocalStore]>([])
        let count = story.setting.devices
        try complete { [parts] in
            for _ in 0..<count {
                let open = try await kind.make()
                let store = try open()
                if let memos = SimulatedMemo.localOnly(parts.setting) {
                    func remember() async throws { try await memos.remember(in: store) }
                    if kind.usesThreads { try await parts.executor.outside(remember) } else { try await remember() }
                }
                if kind.isReopened { try await parts.executor.outside { try await store.close() } }
                stores.withLock { $0.append(open) }
            }
        }
        devices = try stores.withLock { $0 }.enumerated().map {
            try SimulatedDevice(index: $0.offset, kind: kind, open: $0.element, parts: parts)
        }
        for device in devices { try complete { try await device.start() } }
        if parts.setting.adopts { try complete { [devices] in await devices[0].adopt() } }
    }

    private func act(_ action: SimulationAction) throws {
        parts.count(\.actions)
        parts.random.reseed(action.seed)
        parts.faults.setCalm(action.isCalm)
        parts.trace.note(
            "action", action.kind.rawValue, action.device,
            line: "device \(action.device): \(action.kind.rawValue) \(action.choice)")
        try begin(action)
        try settle()
        for _ in 0..<action.pace {
            guard try step() else { break }
        }
        parts.clock.advance(milliseconds: parts.random.below(2000))
    }

    private func begin(_ action: SimulationAction) throws {
        let device = devices[action.device % devices.count]
        let choice = action.choice
        switch action.kind {
        case .insert, .update, .delete, .undelete, .move: run(device) { await $0.edit(action.kind, choice) }
        case .push: run(device) { await $0.push() }
        case .pull: run(device) { await $0.pull(choice) }
        case .pullAll: run(device) { await $0.pullAll(choice) }
        case .group: run(device) { await $0.group(choice) }
        case .transaction: run(device) { await $0.transaction(choice) }
        case .reconsider: run(device) { await $0.reconsider(choice) }
        case .reconcile: run(device) { await $0.reconcile() }
        case .switchUser: run(device) { await $0.switchUser() }
        case .purge: run(device) { await $0.purge(choice) }
        case .discard: run(device) { await $0.discard(choice) }
        case .undo: run(device) { await $0.undo(choice) }
        case .amend: run(device) { await $0.amend(choice) }
        case .changeKind: run(device) { await $0.changeKind(choice) }
        case .resolve: run(device) { await $0.resolve(choice) }
        case .transfer: try transfer(choice, from: device)
        case .purgeNamed: run(device) { await $0.purgeNamed(choice) }
        case .reword: device.reword()
        case .handOver: device.handOver()
        case .retry:
            run(device) {
                await $0.checkStatus()
                await $0.retry()
            }
        case .restart: device.process.end("the user ended it")
        case .cancel: if parts.faults.allows(.cancellation) { tasks.cancel(of: device.index) }
        case .serverEdit, .serverDelete, .serverBatch: editServer(action)
        case .backup: parts.server.makeBackup()
        case .restoreBackup: parts.server.restoreBackup()
        case .offline: device.isOffline.toggle()
        case .wait: parts.clock.advance(milliseconds: choice % 600_000)
        }
    }

    /// Moves the operations of a record to another device, where both are idle and faults are off: an operation sent in
    /// between would be sent by both.
    private func transfer(_ choice: Int, from device: SimulatedDevice) throws {
        let other = devices[(device.index + 1) % devices.count]
        // An operation keeps its user, and a push of another user would hold it.
        guard story.setting.users == 1, other.index != device.index, !tasks.isBusy(device.index),
            !tasks.isBusy(other.index)
        else { return }
        parts.faults.setCalm(true)
        try complete { await device.transfer(choice, to: other) }
    }

    private func editServer(_ action: SimulationAction) {
        if story.setting.traits.contains(.hasOddRows), action.choice / 2 % 4 == 0 { parts.server.editOddRows() }
        let first = action.choice / 8
        let count = action.kind == .serverBatch ? 2 + action.choice / 64 % 3 * story.setting.serverPage % 20 : 1
        let table = devices[0].record(action.choice).table
        if action.kind == .serverDelete, story.setting.deletesForGood, action.choice / 4096 % 2 == 0 {
            return parts.server.forget(parts.setting.id(first % 6), in: table)
        }
        parts.server.edit(
            table,
            (0..<count).map { offset in
                let id = parts.setting.id((first + offset) % (count > 1 ? 12 : 6))
                if action.kind == .serverDelete { return (id, nil) }
                let values = parts.setting.fields.members(["a": parts.oracle.newValue()])
                return (id, JSON(members: values + [("group", JSON((action.choice / 512 + offset) % 4))]))
            })
    }

    private func run(_ device: SimulatedDevice, _ body: @escaping @Sendable (SimulatedDevice) async -> Void) {
        guard device.context != nil else { return }
        tasks.start(on: device.index) { await body(device) }
    }

    /// Runs `body` to its end, and all other events that happen in between.
    func complete(_ body: @escaping @Sendable () async throws -> Void) throws {
        let failure = Mutex<(any Error)?>(nil)
        let number = tasks.start(on: -1) {
            do {
                try await body()
            } catch {
                failure.withLock { $0 = error }
            }
        }
        try settle()
        while tasks.isRunning(number) {
            guard try step() else {
                throw SimulationViolation(invariant: .progress, message: "something waits for ever")
            }
        }
        if let error = failure.withLock({ $0 }) { throw error }
    }

    /// Runs all ready jobs, and restarts processes that have ended.
    private func settle() throws {
        drain()
        var rounds = 0
        while let device = devices.first(where: { $0.process.isDead }) {
            parts.count(\.crashes)
            parts.trace.note(
                "crash", "", device.index, line: "  device \(device.index) ends: \(device.process.place)")
            parts.agenda.wake(device.process)
            drain()
            tasks.start(on: device.index) { [parts] in
                do {
                    try await Self.start(device, parts)
                } catch {
                    parts.oracle.violate(.progress, "device \(device.index) does not start: \(error)")
                }
            }
            drain()
            rounds += 1
            if rounds > 20 { throw SimulationViolation(invariant: .progress, message: "processes end for ever") }
        }
        if let violation = parts.oracle.violation { throw violation }
    }

    /// Starts a process, and tries again where the disk fails under it.
    private static func start(_ device: SimulatedDevice, _ parts: SimulationParts) async throws {
        var tries = 0
        while true {
            do {
                return try await device.start()
            } catch let error as SluiceError
                where error.code.isStore && parts.faults.allows(.storeTrouble) && tries < 50
            {
                tries += 1
            }
        }
    }

    private func drain() {
        let (random, shuffles) = (parts.random, story.setting.shuffles)
        parts.executor.drain { shuffles ? random.below($0) : 0 }
    }

    private func end(_ device: SimulatedDevice) {
        device.process.end("the story is over")
        parts.agenda.wake(device.process)
        drain()
    }

    /// Runs the next event: a due timer, a parcel, or the next timer. Returns false if there is none.
    func step() throws -> Bool {
        events += 1
        if events > Self.mostEvents {
            throw SimulationViolation(invariant: .bounded, message: "more than \(Self.mostEvents) events, and no end")
        }
        let agenda = parts.agenda
        let parcels = agenda.parcels
        let isLate = parcels > 0 && parts.faults.strikes(.lateRequest)
        if let alarm = agenda.takeAlarm(dueBy: parcels > 0 && !isLate ? parts.clock.now : nil) {
            parts.clock.advance(to: alarm.due)
            parts.trace.note("alarm", "", alarm.process.device, line: "  a timer of device \(alarm.process.device)")
            agenda.ring(alarm)
        } else if parcels > 0 {
            deliver(agenda.takeParcel(parts.random.below(parcels)))
        } else {
            return false
        }
        try settle()
        return true
    }

    private static let mostEvents = 20_000

    /// Runs everything that is under way to its end, without faults.
    private func settleDown() throws {
        parts.faults.setCalm(true)
        busy = [:]
        parts.server.mend()
        for device in devices { device.isOffline = false }
        while try step() {}
        if tasks.count > 0 {
            throw SimulationViolation(invariant: .progress, message: "\(tasks.count) tasks wait for ever")
        }
    }
}

/// A server that is too busy for a device's changes.
struct SimulatedBusyness {
    /// The statuses that prove that the server did nothing.
    static let statuses = [503, 425, 429, 408]

    let status: Int
    var left: Int

    /// Returns whether that answer tells a device that nothing was done. No fault keeps the device from noting it, and
    /// the change was not sent in a batch.
    static func proves(_ response: SyncResponse, in setting: SimulationSetting) -> Bool {
        statuses.contains(response.status) && setting.batchSize == 1 && !setting.makesGroups
            && Set(setting.faults.keys).isDisjoint(with: [.storeFailure, .storeTrouble, .cancellation, .filterEchoes])
    }
}

extension SimulationWorld {
    /// Returns the answer to a change while the server is busy; nil while it is not.
    func busy(_ parcel: SimulationAgenda.Parcel) -> SyncResponse? {
        guard parcel.request.head.method != .get else { return nil }
        let device = parcel.process.device
        if strikes(.staysBusy), busy[device] == nil {
            let status = SimulatedBusyness.statuses[parts.random.below(SimulatedBusyness.statuses.count)]
            busy[device] = SimulatedBusyness(status: status, left: 2 + parts.random.below(5))
        }
        guard let now = busy[device] else { return nil }
        busy[device] = now.left > 1 ? SimulatedBusyness(status: now.status, left: now.left - 1) : nil
        return Self.later(now.status, [nil, "0", "1"][parts.random.below(3)])
    }
}

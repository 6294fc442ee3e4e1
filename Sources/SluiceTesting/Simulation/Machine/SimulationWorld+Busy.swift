internal import HTTPTypes
internal import SluiceCore

/// A server that is too busy for a device's changes.
struct SimulatedBusyness {
    /// The statuses that prove that nothing was done.
    static let statuses = [503, 425, 429, 408]

    let status: Int
    var left: Int

    /// Whether a device comes to know by that answer that nothing was done: nothing keeps it from noting that, and no
    /// batch has brought the change.
    static func proves(_ response: Response, in setting: SimulationSetting) -> Bool {
        statuses.contains(response.status) && setting.batchSize == 1 && !setting.makesGroups
            && Set(setting.faults.keys).isDisjoint(with: [.storeFailure, .storeTrouble, .cancellation, .filterEchoes])
    }
}

extension SimulationWorld {
    /// What a change is answered with while the server is busy; nil while it is not.
    func busy(_ parcel: SimulationAgenda.Parcel) -> Response? {
        guard parcel.request.head.method != .get else { return nil }
        let device = parcel.process.device
        if strikes(.staysBusy), busy[device] == nil {
            let status = SimulatedBusyness.statuses[parts.luck.below(SimulatedBusyness.statuses.count)]
            busy[device] = SimulatedBusyness(status: status, left: 2 + parts.luck.below(5))
        }
        guard let now = busy[device] else { return nil }
        busy[device] = now.left > 1 ? SimulatedBusyness(status: now.status, left: now.left - 1) : nil
        return Self.later(now.status, [nil, "0", "1"][parts.luck.below(3)])
    }
}

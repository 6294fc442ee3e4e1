internal import Sluice

extension SyncSchedule {
    /// What the configuration says of when to sync.
    init(_ values: SettingValues, pulls: [Pull]) {
        self.init(
            pulls: pulls, interval: values.duration("schedule.interval"),
            changeDelay: values.duration("schedule.change-delay"),
            firstPause: values.duration("schedule.first-pause"),
            maximumPause: values.duration("schedule.longest-pause"), spread: values.duration("schedule.spread"))
        // A write that is not pushed by itself goes with the next run, which comes earlier than this.
        if !values.flag("schedule.on-change") { changeDelay = .seconds(366 * 86_400) }
    }
}

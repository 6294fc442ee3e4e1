internal import Sluice

extension SyncSchedule {
    /// Creates the schedule of a configuration.
    init(_ values: SettingValues, pulls: [Pull]) {
        self.init(
            pulls: pulls, interval: values.duration("schedule.interval"),
            changeDelay: values.duration("schedule.change-delay"),
            firstPause: values.duration("schedule.first-pause"),
            maximumPause: values.duration("schedule.longest-pause"), spread: values.duration("schedule.spread"))
        // Without a push of its own a write goes with the next run, which comes earlier than this delay.
        if !values.flag("schedule.on-change") { changeDelay = .seconds(366 * 86_400) }
    }
}

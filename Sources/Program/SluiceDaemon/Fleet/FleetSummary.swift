package import Sluice
internal import SluicePolicy

/// The devices of a fleet as their rows describe them, with those that need a look first. `sluice policy fleet` and the
/// page of `sluice serve` show the same summary.
package struct FleetSummary: Sendable {
    /// The condition of a device, in the order of the list.
    package enum Condition: String, Sendable, CaseIterable {
        /// The device has not reported for too long.
        case silent
        /// It went back from the newest version that it took.
        case returned
        /// Calls of its plugins fail.
        case failing
        /// Nothing is known against it.
        case well
    }

    /// A device with its condition.
    package struct Device: Sendable {
        package let row: PolicyReportRow
        package let condition: Condition
    }

    /// The devices: silent and failing ones first, and those of one condition by their ids.
    package let devices: [Device]
    /// The number of devices whose rows were not read.
    package let unread: Int

    /// Judges the rows at a time.
    package init(_ rows: [PolicyReportRow], at now: Timestamp, silentAfter limit: Duration, unread: Int = 0) {
        let devices = rows.map { Device(row: $0, condition: Self.condition(of: $0, at: now, limit)) }
        self.devices = Condition.allCases.flatMap { condition in
            devices.filter { $0.condition == condition }.sorted { $0.row.device < $1.row.device }
        }
        self.unread = unread
    }

    private static func condition(of row: PolicyReportRow, at now: Timestamp, _ limit: Duration) -> Condition {
        guard let reported = row.reportedAt, reported.duration(to: now) <= limit else { return .silent }
        if row.hasWithdrawn(row.newest) { return .returned }
        return row.figures.errors > 0 ? .failing : .well
    }

    /// Returns a line for each version that serves, the newest first: `3 devices with version 2`.
    package func versions(most: Int = .max) -> [String] {
        let groups = Dictionary(grouping: devices) { $0.row.serving ?? 0 }.sorted { $0.key > $1.key }
        let lines = groups.prefix(most).map { version, devices in
            "\(devices.count.counted("device")) "
                + (version == 0 ? "with the installed policy" : "with version \(version)")
        }
        let rest = groups.dropFirst(most).reduce(0) { $0 + $1.value.count }
        return rest == 0 ? lines : lines + ["\(rest.counted("device")) with other versions"]
    }

    /// The number of devices of each condition, in words; without those that no device has.
    package static func conditions(of devices: some Collection<Device>) -> String {
        Condition.allCases.compactMap { condition in
            let count = devices.count(where: { $0.condition == condition })
            return count == 0 ? nil : "\(count) \(condition.rawValue)"
        }.joined(separator: ", ")
    }

    /// The summary as JSON.
    package var json: JSON {
        var json: JSON = ["devices": JSON(devices.map(\.json))]
        if unread > 0 { json["unread"] = JSON(unread) }
        return json
    }
}

extension FleetSummary.Device {
    /// The names of ``cells``.
    package static let columns = [
        "device", "state", "labels", "serves", "stage", "calls", "errors", "withdrawn", "reported",
    ]

    /// The device as texts, one for each column. They come from the device, and are shown as plain text alone.
    package var cells: [String] {
        [
            row.device, condition.rawValue, row.labels, row.serving.map { "\(row.name) \($0)" } ?? "installed",
            row.stage, "\(row.figures.calls)", "\(row.figures.errors)",
            row.withdrawn.max { $0.key < $1.key }.map { "\($0.key): \($0.value)" } ?? "",
            (row.reportedAt.map(\.description) ?? "never") + (row.isShort ? ", in short" : ""),
        ]
    }

    fileprivate var json: JSON {
        [
            "device": JSON(row.device), "state": JSON(condition.rawValue), "labels": JSON(row.labels),
            "name": JSON(row.name), "serving": row.serving.map { JSON($0) } ?? .null, "stage": JSON(row.stage),
            "newest": JSON(row.newest), "figures": row.figures.json,
            "withdrawn": JSON(
                members: row.withdrawn.sorted { $0.key < $1.key }
                    .map { (PropertyName(String($0.key)), JSON($0.value)) }),
            "reportedAt": row.reportedAt.map { JSON($0.description) } ?? .null,
            "silent": JSON(condition == .silent), "short": JSON(row.isShort), "decisions": JSON(row.decisions),
        ]
    }
}

internal import SluiceConfiguration
internal import SluiceCore

extension BackendConfiguration {
    /// The page on which an operator sees the devices that report to a table. Only `sluice serve` serves it.
    ///
    /// ```swift
    /// configuration.fleet = .init(table: "policy_status", tokenFile: "/etc/shop/operator.token")
    /// ```
    public struct Fleet: Sendable, Hashable {
        /// The table with a row of each device.
        public var table: String
        /// The file with the operator's token: one line of 16 characters or more. It is read again for each request.
        public var tokenFile: String
        /// The time without a report after which a device counts as silent.
        public var silentAfter: Duration

        /// Creates the settings of a page.
        public init(
            table: String = "policy_status", tokenFile: String, silentAfter: Duration = .seconds(86_400)
        ) {
            self.table = table
            self.tokenFile = tokenFile
            self.silentAfter = silentAfter
        }
    }

    /// Checks the page of a fleet.
    func checkFleet() throws(ConfigurationMistake) {
        guard let fleet else { return }
        guard tables.contains(where: { $0.name == fleet.table }) else {
            let hint = NearestKey.suggestion(for: fleet.table, among: tables.map(\.name)) ?? ""
            throw ConfigurationMistake(
                reason: "fleet shows the table \(fleet.table), which is not configured\(hint)", key: "fleet")
        }
        guard fleet.silentAfter >= .seconds(1) else {
            throw ConfigurationMistake(reason: "silentAfter of fleet is at least one second", key: "fleet")
        }
    }
}

extension ConfigurationReader {
    func fleet(_ node: ConfigurationNode) throws(SluiceError) -> BackendConfiguration.Fleet {
        let members = try node.members(["table", "tokenFile", "silentAfter"])
        guard let file = members["tokenFile"] else {
            throw node.refusal("fleet has a tokenFile with the operator's token, such as tokenFile: operator.token")
        }
        var fleet = BackendConfiguration.Fleet(tokenFile: absolute(try file.text()))
        if let table = members["table"] { fleet.table = try table.text() }
        if let interval = members["silentAfter"] { fleet.silentAfter = try TableReader.interval(interval) }
        return fleet
    }
}

internal import SluiceConfiguration
internal import SluiceCore

/// A mistake in a configuration, with the key of its place.
struct ConfigurationMistake: Error {
    var code: SluiceError.Code = .invalidArgument
    var reason: String
    /// The name of the table, and its index among the tables.
    var table: String?
    var index: Int?
    /// The table's key with the mistake; nil for the table as a whole.
    var key: String?

    var error: SluiceError { SluiceError(code, reason, table: table) }
}

extension BackendConfiguration {
    /// Checks names, bounds and references.
    ///
    /// - Throws: ``ConfigurationMistake``.
    func check() throws(ConfigurationMistake) {
        var names: Set<String> = []
        for (index, table) in tables.enumerated() {
            do throws(ConfigurationMistake) {
                try table.check()
                if table.key != nil {
                    guard case .postgres = database else {
                        throw ConfigurationMistake(
                            reason: "key is for tables of a PostgreSQL database that were adopted", key: "key")
                    }
                }
                guard names.insert(table.name.lowercased()).inserted else {
                    throw ConfigurationMistake(code: .invalidTable, reason: "two tables have this name")
                }
                if authentication == nil, let reason = table.needOfUsers {
                    throw ConfigurationMistake(
                        reason: "\(reason.text), but the configuration says nothing of auth, so that no request has a "
                            + "user", key: reason.key)
                }
            } catch {
                var mistake = error
                mistake.table = table.name
                mistake.index = index
                throw mistake
            }
        }
        if replica != nil {
            guard case .postgres = database else {
                throw ConfigurationMistake(reason: "only a PostgreSQL database has a replica", key: "replica")
            }
        }
        try checkReferences()
        if let namespace = odata?.namespace {
            let parts = namespace.split(separator: ".", omittingEmptySubsequences: false)
            guard parts.allSatisfy({ Self.isIdentifier(String($0)) }), namespace.utf8.count <= 200 else {
                throw ConfigurationMistake(
                    reason: "the namespace of odata is names of letters, digits and _ with dots between them",
                    key: "odata")
            }
        }
        guard requestIdsExpire >= .seconds(1) else {
            throw ConfigurationMistake(reason: "requestIdsExpire is at least one second", key: "requestIdsExpire")
        }
        if case .variable(let name)? = authentication?.secret?.source, name.isEmpty || name.contains("=") {
            throw ConfigurationMistake(reason: "secretVariable is the name of a variable of the environment")
        }
        if let authentication, authentication.secret == nil, authentication.keyFile == nil {
            throw ConfigurationMistake(reason: "auth has a secret, or a file with keys")
        }
        try checkLoad()
        try checkFleet()
    }
}

extension BackendConfiguration {
    /// Whether the text is an ASCII letter followed by ASCII letters, digits and `_`.
    static func isIdentifier(_ text: String) -> Bool {
        guard let first = text.utf8.first, first | 0x20 >= 0x61, first | 0x20 <= 0x7A else { return false }
        return text.utf8.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20) || byte == UInt8(ascii: "_")
        }
    }
}

extension BackendConfiguration.Table {
    /// Checks one table's rules, without the other tables.
    func check() throws(ConfigurationMistake) {
        guard Self.isName(name) else {
            throw ConfigurationMistake(
                code: .invalidTable,
                reason: "a table's name is 1 to 100 letters, digits, _ and -, begins with a letter, and not with "
                    + "sqlite_ or sluice_")
        }
        guard pageSize > 0, pageSize <= 128_000 else {
            throw ConfigurationMistake(reason: "pageSize is 1 to 128000", key: "pageSize")
        }
        guard maxTop > 0 else { throw ConfigurationMistake(reason: "maxTop is at least 1", key: "maxTop") }
        guard (400...499).contains(unauthorizedStatus) else {
            throw ConfigurationMistake(reason: "unauthorizedStatus is 400 to 499", key: "unauthorizedStatus")
        }
        for (key, interval) in [("recordsExpire", recordsExpire), ("tombstonesExpire", tombstonesExpire)] {
            if let interval, interval < .seconds(1) {
                throw ConfigurationMistake(reason: "\(key) is at least one second", key: key)
            }
        }
        for column in columns
        where SystemColumn.all.contains(column.name) || column.name == "id" || column.name.text.hasPrefix("__") {
            throw ConfigurationMistake(
                code: .invalidTable, reason: "the column \(column.name) is the server's own", key: "columns")
        }
        try checkAdoption()
        try checkPerUser()
        try checkView()
    }

    private func checkAdoption() throws(ConfigurationMistake) {
        guard let key else { return }
        guard !key.isEmpty else { throw ConfigurationMistake(reason: "key is the name of a column", key: "key") }
        guard !columns.isEmpty else {
            throw ConfigurationMistake(reason: "a table with a key names its columns", key: "key")
        }
        guard seed == nil, view == nil else {
            throw ConfigurationMistake(
                reason: "a table with a key has neither seed nor view", key: seed == nil ? "view" : "seed")
        }
        guard !columns.contains(where: { $0.name == PropertyName(key) }) else {
            throw ConfigurationMistake(reason: "the column \(key) is the id, and no other column", key: "columns")
        }
    }

    private func checkPerUser() throws(ConfigurationMistake) {
        guard let perUser else { return }
        guard !perUser.text.isEmpty, perUser != "id", !SystemColumn.all.contains(perUser) else {
            throw ConfigurationMistake(
                reason: "perUser is a column of the table's own, not \(perUser)", key: "perUser")
        }
        if !columns.isEmpty {
            guard let column = columns.first(where: { $0.name == perUser }) else {
                let hint = NearestKey.suggestion(for: perUser.text, among: columns.map(\.name.text)) ?? ""
                throw ConfigurationMistake(
                    reason: "perUser names the column \(perUser), which is not among the columns\(hint)",
                    key: "perUser")
            }
            guard column.type == .string else {
                throw ConfigurationMistake(
                    reason: "perUser holds users, which are texts, and the column \(perUser) is of type "
                        + column.type.rawValue, key: "perUser")
            }
        }
        for operation in BackendOperation.allCases where access[operation] == .anonymous {
            throw ConfigurationMistake(
                reason: "perUser needs a user, and access lets everyone \(operation.rawValue); it is authenticated or "
                    + "disabled", key: "access")
        }
    }

    private func checkView() throws(ConfigurationMistake) {
        guard let view else { return }
        let schema = TableSchema(name, columns: storedColumns + SystemColumn.declared)
        do {
            // The evaluator only checks the types here; the database answers requests.
            _ = try TableQuery.Evaluator(TableQuery(name, filter: view), schema: schema)
        } catch {
            throw ConfigurationMistake(reason: "view: \(error.message)", key: "view")
        }
        guard !columns.isEmpty else { return }
        let known = schema.columns.map(\.name) + ["id"]
        for column in view.columns.sorted() where !known.contains(column) {
            let hint = NearestKey.suggestion(for: column.text, among: known.map(\.text)) ?? ""
            throw ConfigurationMistake(
                reason: "view names the column \(column), which is not among the columns\(hint)", key: "view")
        }
    }

    /// The reason that the table needs users, with its key; nil if it does not.
    fileprivate var needOfUsers: (text: String, key: String)? {
        if perUser != nil { return ("perUser needs users", "perUser") }
        let needs = BackendOperation.allCases.contains { access[$0] == .authenticated }
        return needs ? ("access: authenticated needs users", "access") : nil
    }

    private static func isName(_ name: String) -> Bool {
        let isWord = { (byte: UInt8) in
            (0x41...0x5A).contains(byte & 0xDF) || (0x30...0x39).contains(byte) || byte == 0x5F || byte == 0x2D
        }
        let folded = name.lowercased()
        guard let first = name.utf8.first, (0x41...0x5A).contains(first & 0xDF), name.utf8.count <= 100 else {
            return false
        }
        return name.utf8.allSatisfy(isWord) && !folded.hasPrefix("sqlite_") && !folded.hasPrefix("sluice_")
    }
}

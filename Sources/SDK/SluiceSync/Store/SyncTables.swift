package import SluiceBase

/// The sync tables: the engine keeps them in the application's store, through the store's own protocol.
package enum SyncTables {
    /// The prefix of every sync table's name; names of the application's tables may not begin with it.
    package static let prefix = "sluice_"

    /// The audit: operations given up, changed, taken over, imported, or answered by a plugin, with their times: see
    /// ``AuditEntry``.
    package static let audit = TableSchema(
        "sluice_audit",
        columns: [.init("at", .date), .init("what", .string), .init("operation", .json), .init("local", .json)])

    /// The values that plugins keep, one record for each. Only a store with such values has the table, so it is not in
    /// ``all``.
    package static let pluginValues = TableSchema(
        "sluice_plugin_values", columns: [.init("plugin", .string), .init("key", .string), .init("value", .json)])

    /// Checks the name of one of the application's tables.
    package static func validate(_ table: String) throws(SluiceError) {
        func isLetter(_ byte: UInt8) -> Bool {
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) || byte == UInt8(ascii: "_")
        }
        let bytes = Array(table.utf8)
        guard let first = bytes.first, bytes.count <= 128, isLetter(first),
            bytes.allSatisfy({ isLetter($0) || $0 &- 0x30 < 10 })
        else {
            throw SluiceError(
                .invalidTable, "a table's name is 1 to 128 letters, digits and underscores, and no digit first",
                table: table)
        }
        guard !table.lowercased().hasPrefix(prefix), !table.lowercased().hasPrefix("sqlite_") else {
            throw SluiceError(.invalidTable, "names that begin with sluice_ or sqlite_ are taken", table: table)
        }
    }
}

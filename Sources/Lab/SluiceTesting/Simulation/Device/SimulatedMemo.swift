internal import SluiceCore

/// A column of every record that stays on its device: it holds the application's last value, and no request contains
/// it.
enum SimulatedMemo {
    static let column: PropertyName = "memo"

    /// Returns the local-only columns of the story, if it has any.
    static func localOnly(_ setting: SimulationSetting) -> LocalOnly? {
        setting.keepsMemos ? LocalOnly(columns: ["items": [column], "notes": [column]]) : nil
    }

    /// Returns the record without the column, as the server may see it.
    static func without(_ record: JSON) -> JSON {
        guard record[column] != nil else { return record }
        var record = record
        record[column] = nil
        return record
    }
}

extension LocalOnly {
    /// Stores the declaration before the story begins, while no fault happens.
    func remember(in store: any LocalStore) async throws {
        var options = SyncOptions()
        options.localOnly = self
        _ = try await SyncContext(store: store, options: options)
    }
}

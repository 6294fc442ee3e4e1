internal import SluiceCore

/// A column of every record that stays on its device: it is what the application wrote last, and in no request.
enum SimulatedMemo {
    static let column: PropertyName = "memo"

    /// What stays on devices of such a world, if anything does.
    static func localOnly(_ setting: SimulationSetting) -> LocalOnly? {
        setting.keepsMemos ? LocalOnly(columns: ["items": [column], "notes": [column]]) : nil
    }

    /// The record as the server may know it.
    static func without(_ record: JSON) -> JSON {
        guard record[column] != nil else { return record }
        var record = record
        record[column] = nil
        return record
    }
}

extension LocalOnly {
    /// Has the store remember it before the story begins, when nothing fails yet.
    func remember(in store: any LocalStore) async throws {
        var options = SyncOptions()
        options.localOnly = self
        _ = try await SyncContext(store: store, options: options)
    }
}

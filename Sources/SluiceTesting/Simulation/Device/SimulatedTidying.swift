internal import SluiceCore

/// A hook that takes a property out of some of the records that pulls bring, and changes it in the others. What it makes
/// of them is the application's to see, and nobody's edit.
struct SimulatedTidying: SyncHook {
    let fields: SimulatedFields

    var hookName: String { "tidying" }

    func afterPull(_ page: PulledPage) async throws -> [PulledRowDecision] {
        page.rows.map { $0.isTombstone ? .keep : .change(fields.tidied($0.record)) }
    }
}

extension SimulatedFields {
    /// The property that the hook changes.
    private static let tidied = "b"

    /// The record as the hook makes it: an even value is taken out, and another one gets the opposite sign.
    func tidied(_ record: JSON) -> JSON {
        guard let value = value(Self.tidied, of: record) else { return record }
        var record = record
        record[name(Self.tidied)] = value % 2 == 0 ? nil : JSON(0 &- value)
        return record
    }

    /// Whether an update has put what the hook made of a property in the place of the property.
    func writesTidying(over before: JSON, _ after: JSON) -> Bool {
        let name = name(Self.tidied)
        let (value, written) = (before[name], after[name])
        return value != nil && written != value && written == tidied(before)[name]
    }
}

extension SimulationSetting {
    /// Whether a device that holds the second record shows the server's row: as it is, or as its hook makes it.
    func shows(_ row: JSON, as record: JSON?) -> Bool {
        record == row || tidiesPages && record == fields.tidied(row)
    }
}

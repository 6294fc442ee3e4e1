internal import Sluice

/// What the two devices do while there is no network: each edits, inserts and deletes, and both edit one record.
struct DemoEdits {
    /// How many rows there are more after it: each device inserts one and deletes one.
    static let addedRows = 0

    /// The record that both edit: Fight Club.
    static let shared = "id-009"

    let narrator: Narrator

    func make(on devices: [DemoDevice]) async throws {
        guard devices.count == 2 else { return }
        let (anna, ben) = (devices[0], devices[1])
        try await edit(anna, Self.shared, ["title": "Fight Club (4K)", "duration": 151])
        try await edit(anna, "id-017", ["rating": "PG13"])
        try await insert(
            anna, ["id": "anna-1", "title": "Stalker", "year": 1979, "duration": 162, "rating": "Unrated"])
        try await delete(anna, "id-013")

        try await edit(ben, Self.shared, ["title": "Fight Club (uncut)", "rating": "NC17"])
        try await edit(ben, "id-000", ["duration": 143])
        try await insert(ben, ["id": "ben-1", "title": "Solaris", "year": 1972, "duration": 167, "rating": "PG"])
        try await delete(ben, "id-018")
    }

    private func edit(_ device: DemoDevice, _ id: String, _ changes: JSON) async throws {
        let movies = try device.movies
        let title = try await movies.lookup(id: id)?["title"]?.string ?? id
        var record = changes
        record["id"] = JSON(id)
        try await movies.update(record)
        let both = id == Self.shared ? "  <- both" : ""
        say(device, "changes \(changes.names.joined(separator: " and ")) of \(title)\(both)")
    }

    private func insert(_ device: DemoDevice, _ record: JSON) async throws {
        let stored = try await device.movies.insert(record)
        say(device, "adds \(stored["title"]?.string ?? "a movie")")
    }

    private func delete(_ device: DemoDevice, _ id: String) async throws {
        let movies = try device.movies
        let title = try await movies.lookup(id: id)?["title"]?.string ?? id
        try await movies.delete(id: id)
        say(device, "deletes \(title)")
    }

    private func say(_ device: DemoDevice, _ text: String) {
        narrator.detail("\(device.name)\(String(repeating: " ", count: max(1, 6 - device.name.count)))\(text)")
    }
}

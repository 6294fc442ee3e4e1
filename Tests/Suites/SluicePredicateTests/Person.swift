import Foundation
import SluiceCore

/// A record with a property of every kind that predicates know.
struct Person: SyncRecord {
    static let tableName = "people"
    enum Status: String, Codable { case active, retired }
    struct Address: Codable {
        var city: String
        var street: String
    }

    var id = ""
    var name = ""
    var nick: String?
    var age = 0
    var score: Int?
    var weight = 0.0
    var height: Float = 0
    var done = false
    var agreed: Bool?
    var made = Date(timeIntervalSince1970: 0)
    var seen: Timestamp?
    var key = UUID()
    var status = Status.active
    var initial: Character { name.first ?? " " }
    var address = Address(city: "", street: "")
    var tags: [String] = []
    /// Not stated below.
    var secret = ""

    static let columns: ColumnMap<Person> = [
        \.id: "id", \.name: "name", \.nick: "nickName", \.age: "age", \.score: "score", \.weight: "weight",
        \.height: "height", \.done: "done", \.agreed: "agreed", \.made: "made", \.seen: "seen", \.key: "key",
        \.status: "status", \.address.city: "city", \.tags: "tags",
    ]

    /// The record as a server has it.
    var json: JSON {
        [
            "id": JSON(id), "name": JSON(name), "nickName": nick.map { JSON($0) } ?? .null, "age": JSON(age),
            "score": score.map { JSON($0) } ?? .null,
            "weight": Int64(exactly: weight).map { JSON($0) } ?? JSON(weight),
            "height": JSON(Double(height.description) ?? 0), "done": JSON(done),
            "agreed": agreed.map { JSON($0) } ?? .null,
            "made": JSON(
                Timestamp(ticks: Int64(exactly: (made.timeIntervalSince1970 * 10_000_000).rounded(.towardZero)) ?? 0)
                    .description),
            "seen": seen.map { JSON($0.description) } ?? .null, "key": JSON(key.uuidString),
            "status": JSON(status.rawValue), "city": JSON(address.city), "tags": JSON(tags.map { JSON($0) }),
        ]
    }

    /// Different from each other in every property.
    static let all: [Person] = [
        Person(
            id: "1", name: "Ada", nick: "ada", age: 36, score: 7, weight: 61.5, height: 1.3, done: true, agreed: true),
        Person(
            id: "2", name: "Bob's 100%", nick: nil, age: 18, score: nil, weight: 7, height: 2, agreed: nil,
            made: Date(timeIntervalSince1970: 1_000_000_000.25), status: .retired,
            address: Address(city: "Köln", street: "x")),
        Person(
            id: "3", name: "", nick: "", age: -5, score: 0, weight: -2.5, done: true, agreed: false,
            seen: Timestamp("2024-01-31T10:00:00Z"), key: UUID(uuidString: "0F8FAD5B-D9CB-469F-A165-70867728950E")!),
        Person(id: "4", name: "Adam", nick: "A", age: 7, score: 3, weight: 3.0, height: -1, agreed: true, tags: ["a"]),
    ]
}

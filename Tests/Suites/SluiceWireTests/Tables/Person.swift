import SluiceCore

struct Person: SyncRecord, Equatable {
    static let tableName = "people"
    var id: String?
    var name: String
    var age: Int?
    var version: String?
    var updatedAt: Timestamp?
}

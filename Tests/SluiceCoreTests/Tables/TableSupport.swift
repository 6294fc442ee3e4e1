import HTTPTypes
import SluiceCore
import SluiceTesting

/// What went out, as `PATCH /app/tables/people/1`.
func line(_ request: Request) -> String { "\(request.head.method.rawValue) \(request.head.path ?? "")" }

extension ScriptedTransport {
    var lines: [String] { requests.map(line) }
    var bodies: [String] { requests.map { String(decoding: $0.body.bytes, as: UTF8.self) } }
    func header(_ name: String, _ index: Int = 0) -> String? { requests[index].head.headerFields[field(name)] }
}

extension Dialect {
    /// The name of the version's column.
    var version: PropertyName { columns.version }
}

/// A record that says which wire's it is by the name of its version.
func row(_ dialect: Dialect, _ id: String, _ version: String? = nil, _ more: JSON = .object) -> String {
    var record: JSON = ["id": JSON(id)]
    for (name, value) in more.members ?? [] { record[name] = value }
    if let version { record[dialect.version] = JSON(version) }
    return String(describing: record)
}

struct Person: TableRecord, Equatable {
    static let tableName = "people"
    var id: String?
    var name: String
    var age: Int?
    var version: String?
    var updatedAt: Timestamp?
}

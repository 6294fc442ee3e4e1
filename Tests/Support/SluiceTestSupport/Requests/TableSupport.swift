internal import HTTPTypes
package import SluiceCore
package import SluiceTesting

/// What went out, as `PATCH /app/tables/people/1`.
package func line(_ request: SyncRequest) -> String { "\(request.head.method.rawValue) \(request.head.path ?? "")" }

extension ScriptedTransport {
    package var lines: [String] { requests.map(line) }
    package var bodies: [String] { requests.map { String(decoding: $0.body.bytes, as: UTF8.self) } }
    package func header(_ name: String, _ index: Int = 0) -> String? { requests[index].head.headerFields[field(name)] }
}

extension Dialect {
    /// The name of the version's column.
    package var version: PropertyName { columns.version }
}

/// A record that says which wire's it is by the name of its version.
package func row(_ dialect: Dialect, _ id: String, _ version: String? = nil, _ more: JSON = .object) -> String {
    var record: JSON = ["id": JSON(id)]
    for (name, value) in more.members ?? [] { record[name] = value }
    if let version { record[dialect.version] = JSON(version) }
    return String(describing: record)
}

internal import HTTPTypes
public import SluiceBase

/// A table at the server, whose records are JSON objects or values of a type.
///
/// Every call goes to the server through the client's filters, at once, and stores nothing locally. ``SyncTable`` is
/// for programs that must work without a network.
///
/// ```swift
/// let people = client.table(Person.self)          // Table<Person>
/// var ada = try await people.insert(Person(name: "Ada"))
/// ada.name = "Ada L."
/// ada = try await people.update(ada)
///
/// let rows = client.table("people")               // Table<JSON>
/// let grace = try await rows.insert(["name": "Grace"])
/// ```
///
/// Calls return the server's record. A change carries the version of the record it was made on, and is refused with
/// `preconditionFailed` if the server has another version. A record without a version is changed without a condition.
///
/// **A type codes itself**, by the rules of ``SyncRecord``: a property that it does not declare is not read, and an
/// `update` leaves it alone if the wire has PATCH. A nil property is left out of an insert, so that the server's
/// default applies. An update sends it as null, which clears it. JSON goes out and comes back as it is.
///
/// Calls throw ``SluiceError``. `invalidTable`, `invalidRecord` and `invalidArgument` mean that nothing was sent.
/// `notFound`, `conflict`, `preconditionFailed` and the like are refusals of the server, with
/// ``SluiceError/exchange``, and with ``SluiceError/serverRecord`` if it sent one. After `network`, `timeout` and
/// `cancelled` it is unknown whether the server carried out the request. For a server's record that does not fit the
/// type it is `invalidRecord` with ``SluiceError/serverRecord``: the change was made nevertheless.
public struct OnlineTable<Record: Codable & Sendable>: Sendable {
    /// The client.
    public let client: SluiceClient
    /// The table's name.
    public let name: String
    /// The system properties to request on a wire that sends them only on request; nil leaves it to the client.
    var requested: Set<SystemProperty>?
    private let declared = DeclaredProperties(of: Record.self)

    init(_ name: String, client: SluiceClient) {
        (self.client, self.name) = (client, name)
        requested = Record.self == JSON.self ? nil : Set(declared.names.keys)
    }

    /// The properties among `createdAt`, `updatedAt`, `version` and `deleted` that are the server's: by default the
    /// ones that the type declares. Remove one if a table of Mobile Services has its own column by that name.
    public var systemProperties: Set<SystemProperty> {
        get { requested ?? .all }
        set { requested = newValue }
    }

    var dialect: Dialect { client.dialect }
    var coder: RecordCoder<Record> {
        RecordCoder(name, declared: declared, among: systemProperties, dialect: dialect)
    }

    /// Adds a record. Without an `id` the server assigns one; an integer id must be absent, null (nil) or 0.
    ///
    /// - Returns: the server's record.
    /// - Throws: see ``OnlineTable``; `conflict` if there is a record with that id already.
    @discardableResult
    public func insert(_ record: Record, parameters: SyncRequest.Parameters = [:]) async throws -> Record {
        try TableRules.validate(table: name)
        var record = try coder.encode(record, withNulls: false)
        switch try TableRules.id(of: record, table: name, dialect: dialect, isNew: true) {
        case .integer(let number)?:
            throw TableRules.refusal("the server gives out integer ids: insert without one", name, .integer(number))
        case .string?: break
        case nil: record[dialect.columns.id] = nil
        }
        let request = dialect.insert(table: name, record: record, endpoint: client.endpoint)
        return try await changed(request, parameters, sent: record)
    }

    /// Changes a record, if it still has the version that `record` has. Properties that `record` does not name, or that
    /// the type does not declare, stay. On a wire whose updates are PUT (`azure-v3`, `datasync`) it must be the whole
    /// record, as for ``replace(_:parameters:)``.
    ///
    /// - Parameter record: the new values, the record's `id`, and its version where the change depends on it.
    /// - Returns: the server's record.
    /// - Throws: see ``OnlineTable``.
    @discardableResult
    public func update(_ record: Record, parameters: SyncRequest.Parameters = [:]) async throws -> Record {
        let (id, record) = try identified(record)
        let request = dialect.update(
            table: name, id: id, changes: record, version: nil, endpoint: client.endpoint)
        return try await changed(request, parameters, sent: record)
    }

    /// Replaces the server's record (PUT). Properties that `record` does not name, or that the type does not declare,
    /// are lost.
    ///
    /// - Returns: the server's record.
    /// - Throws: see ``OnlineTable``.
    @discardableResult
    public func replace(_ record: Record, parameters: SyncRequest.Parameters = [:]) async throws -> Record {
        let (id, record) = try identified(record)
        let request = dialect.replace(
            table: name, id: id, record: record, version: nil, endpoint: client.endpoint)
        return try await changed(request, parameters, sent: record)
    }

    /// Deletes a record, if it still has the version that `record` has.
    ///
    /// - Throws: see ``OnlineTable``; `notFound` if there is none.
    public func delete(_ record: Record, parameters: SyncRequest.Parameters = [:]) async throws {
        let (id, record) = try identified(record, withNulls: false)
        try await delete(id: id, version: record[dialect.columns.version]?.string, parameters: parameters)
    }

    /// Deletes a record, in any version unless one is given.
    ///
    /// - Throws: see ``OnlineTable``; `notFound` if there is none.
    public func delete(
        id: some RecordIDConvertible, version: String? = nil, parameters: SyncRequest.Parameters = [:]
    ) async throws {
        let id = try validated(id)
        let request = dialect.delete(
            table: name, id: id, version: usable(version, for: id), endpoint: client.endpoint)
        _ = try await document(request, parameters)
    }

    /// Returns the record with its id checked, and without its version if the id is an integer: servers keep versions
    /// only of records with text ids.
    func identified(
        _ record: Record, withNulls: Bool = true
    ) throws(SluiceError) -> (id: RecordID, document: JSON) {
        try TableRules.validate(table: name)
        var record = try coder.encode(record, withNulls: withNulls)
        let id = try TableRules.requiredID(of: record, table: name, dialect: dialect)
        if case .integer = id { record[dialect.columns.version] = nil }
        return (id, record)
    }

    func validated(_ id: some RecordIDConvertible) throws(SluiceError) -> RecordID {
        try TableRules.validate(table: name)
        let id = id.recordID
        try TableRules.validate(id, table: name, dialect: dialect)
        return id
    }

    func usable(_ version: String?, for id: RecordID) -> String? {
        if case .integer = id { return nil }
        return version
    }
}

extension OnlineTable where Record == JSON {
    /// The system properties to request on a wire that sends them only on request. Nil leaves it to the client's
    /// options, whose default is all.
    public var systemProperties: Set<SystemProperty>? {
        get { requested }
        set { requested = newValue }
    }
}

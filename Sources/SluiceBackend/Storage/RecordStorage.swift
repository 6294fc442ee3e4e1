internal import SluiceCore
internal import SluiceSQLite

/// A table of records in a database. The functions work in the caller's transaction, on a connection to that database.
protocol RecordStorage: Sendable {
    /// The columns as declared.
    var schema: TableSchema { get }

    /// Refuses rules that the table was not made for.
    func check(_ rules: BackendConfiguration.Table) throws
    /// Makes the table and its indexes.
    func create(on connection: any StorageConnection) throws
    /// Adds the columns that `wanted` has more, and moves values into them.
    func extend(to wanted: TableSchema, on connection: any StorageConnection) throws -> any RecordStorage
    /// Makes an index of that name for queries that sort by those columns, unless there is one.
    func createIndex(_ name: String, _ keys: [Query.SortKey], on connection: any StorageConnection) throws

    func record(_ id: RecordID, on connection: any StorageConnection) throws -> JSON?
    /// The records that match, in the query's order, with `skip`, `top` and `select` applied.
    func records(matching query: Query, on connection: any StorageConnection) throws -> [JSON]
    func count(matching query: Query, on connection: any StorageConnection) throws -> Int
    /// Walks over the ids and versions of the records that match, in the binary order of their ids.
    func scan(
        matching filter: QueryExpression?, on connection: any StorageConnection,
        _ body: (_ id: RecordID, _ version: String) throws -> Void) throws
    /// Appends the records that match as JSON objects with commas between them, up to `most`.
    ///
    /// - Parameter text: what of them is shown.
    /// - Returns: whether there are more.
    func append(
        _ query: Query, most: Int, _ text: ListText, to output: inout [UInt8], on connection: any StorageConnection
    ) throws -> Bool

    /// The number for a new id, where the table itself gives them out; nil where the catalog does.
    func nextNumber(on connection: any StorageConnection) throws -> Int64?
    /// Inserts or replaces a record, and gives back what is stored.
    func put(_ record: JSON, on connection: any StorageConnection) throws -> JSON
    func delete(_ ids: [RecordID], on connection: any StorageConnection) throws
}

extension RecordStorage {
    func check(_ rules: BackendConfiguration.Table) throws {
        guard rules.key == nil else {
            throw SluiceError(
                .storeSchema, "the backend made the table; key is for tables that it did not make", table: rules.name)
        }
    }

    func nextNumber(on connection: any StorageConnection) throws -> Int64? { nil }
}

/// What a list shows of records.
struct ListText {
    /// The members of each object.
    var members: [RecordText.Member]
    /// The columns whose values may not fit their type.
    var inexact: Set<PropertyName>
    /// Names for which null is shown where a record lacks them; nil where nothing is.
    var completing: [PropertyName]?
    /// Shows a record as the members would.
    var whole: (JSON) -> JSON
}

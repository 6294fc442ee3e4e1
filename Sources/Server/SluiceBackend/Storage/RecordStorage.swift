internal import SluiceCore
internal import SluiceSQLite

/// A table of records in a database. The functions work in the caller's transaction, on a connection to that database.
protocol RecordStorage: Sendable {
    /// The declared columns.
    var schema: TableSchema { get }

    /// Returns the table with other columns, even if the database lacks some.
    func with(_ schema: TableSchema) -> any RecordStorage
    /// Refuses rules that do not fit the existing table.
    func check(_ rules: BackendConfiguration.Table, on connection: any StorageConnection) throws
    /// Creates the table and its indexes.
    func create(on connection: any StorageConnection) throws
    /// Adds the further columns of `wanted`, and moves values into them; nil if the table is in use, because the wait
    /// for its lock would block everyone.
    func extend(to wanted: TableSchema, on connection: any StorageConnection) throws -> (any RecordStorage)?
    /// Creates a named index for sorting by the given columns, unless it exists.
    func createIndex(_ name: String, _ keys: [TableQuery.SortKey], on connection: any StorageConnection) throws

    func record(_ id: RecordID, on connection: any StorageConnection) throws -> JSON?
    /// Walks over the records that match, in the query's order, with `skip`, `top` and `select` applied, until `body`
    /// returns false. `body` gets each record with its number of bytes in the database.
    func forEach(
        _ query: TableQuery, on connection: any StorageConnection,
        _ body: (_ record: JSON, _ stored: Int) throws -> Bool
    ) throws
    func count(matching query: TableQuery, on connection: any StorageConnection) throws -> Int
    /// Walks over the ids and versions of the records that match, in the binary order of their ids.
    func scan(
        matching filter: QueryExpression?, on connection: any StorageConnection,
        _ body: (_ id: RecordID, _ version: String) throws -> Void) throws
    /// Appends the records of a page as JSON objects with commas between them.
    ///
    /// - Parameter text: the shown members of the records.
    /// - Returns: their number, and whether there are more.
    func append(
        _ query: TableQuery, _ size: PageSize, _ text: ListText, to output: inout [UInt8],
        on connection: any StorageConnection
    ) throws -> (count: Int, hasMore: Bool)

    /// Returns the number for a new id if the table itself assigns ids; nil if the catalog does.
    func nextNumber(on connection: any StorageConnection) throws -> Int64?
    /// Inserts or replaces a record, and returns the stored record.
    func put(_ record: JSON, on connection: any StorageConnection) throws -> JSON
    func delete(_ ids: [RecordID], on connection: any StorageConnection) throws
}

extension RecordStorage {
    func check(_ rules: BackendConfiguration.Table, on connection: any StorageConnection) throws {
        guard rules.key == nil else {
            throw SluiceError(
                .storeSchema, "the backend made the table; key is for tables that it did not make", table: rules.name)
        }
    }

    func nextNumber(on connection: any StorageConnection) throws -> Int64? { nil }
}

/// The shown members of a list's records.
struct ListText {
    /// The members of each object.
    var members: [RecordText.Member]
    /// The columns that may hold values of another type.
    var inexact: Set<PropertyName>
    /// Names shown as null in records without them; nil for none.
    var completing: [PropertyName]?
    /// Returns a record in the form of the members.
    var whole: (JSON) -> JSON
}

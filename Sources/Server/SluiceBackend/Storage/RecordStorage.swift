internal import SluiceCore
internal import SluiceSQLite

/// A table of records in a database. The functions work in the caller's transaction, on a connection to that database.
protocol RecordStorage: Sendable {
    /// The columns as declared.
    var schema: TableSchema { get }

    /// The same with other columns, which the database may not have yet.
    func with(_ schema: TableSchema) -> any RecordStorage
    /// Refuses rules that the table was not made for.
    func check(_ rules: BackendConfiguration.Table, on connection: any StorageConnection) throws
    /// Makes the table and its indexes.
    func create(on connection: any StorageConnection) throws
    /// Adds the columns that `wanted` has more, and moves values into them; nil where somebody else uses the table, and
    /// everybody would have to wait for them.
    func extend(to wanted: TableSchema, on connection: any StorageConnection) throws -> (any RecordStorage)?
    /// Makes an index of that name for queries that sort by those columns, unless there is one.
    func createIndex(_ name: String, _ keys: [Query.SortKey], on connection: any StorageConnection) throws

    func record(_ id: RecordID, on connection: any StorageConnection) throws -> JSON?
    /// Walks over the records that match, in the query's order, with `skip`, `top` and `select` applied, until `body` has
    /// enough. It gets each with the number of its bytes in the database.
    func forEach(
        _ query: Query, on connection: any StorageConnection, _ body: (_ record: JSON, _ stored: Int) throws -> Bool
    ) throws
    func count(matching query: Query, on connection: any StorageConnection) throws -> Int
    /// Walks over the ids and versions of the records that match, in the binary order of their ids.
    func scan(
        matching filter: QueryExpression?, on connection: any StorageConnection,
        _ body: (_ id: RecordID, _ version: String) throws -> Void) throws
    /// Appends the records of a page as JSON objects with commas between them.
    ///
    /// - Parameter text: what of them is shown.
    /// - Returns: how many they are, and whether there are more.
    func append(
        _ query: Query, _ size: PageSize, _ text: ListText, to output: inout [UInt8],
        on connection: any StorageConnection
    ) throws -> (count: Int, hasMore: Bool)

    /// The number for a new id, where the table itself gives them out; nil where the catalog does.
    func nextNumber(on connection: any StorageConnection) throws -> Int64?
    /// Inserts or replaces a record, and gives back what is stored.
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

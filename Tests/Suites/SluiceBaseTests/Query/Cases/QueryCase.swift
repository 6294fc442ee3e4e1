import SluiceCore
import SluiceTestSupport

/// What is done with a row of Tests/Data/Fixtures/query-cases.jsonl.
enum QueryCase {
    /// A `$filter` that is printed exactly so.
    case exact(TableQuery.Term)
    /// A `$filter` that is spelled otherwise here, but read as the same tree.
    case read(TableQuery.Term)
    /// A request's parameters: the same names with values that mean the same.
    case query(TableQuery)
    /// A request's whole address.
    case address(String)
    /// A text of OData that is refused: by its reader, or for the columns.
    case refused(String, [TableSchema.Column] = [])
    /// A query of OData text that finds these of ``QueryCase/records``, in that order.
    case finds([String])
    /// A row that is not held, and why. The documentation has the same list.
    case left(String)

    /// The columns of ``records``.
    static let schema = TableSchema(
        "test",
        columns: [
            .init("name", .string), .init("age", .integer), .init("String", .string), .init("weight", .real),
            .init("price", .integer), .init("close_dt", .date), .init("title", .string), .init("firstName", .string),
            .init("lastName", .string), .init("message", .string),
        ])

    /// What ``finds(_:)`` looks into.
    static let records: [JSON] = [
        [
            "id": "1", "name": "john", "age": 9, "String": "b", "weight": 5.5, "price": 3,
            "close_dt": "2012-05-29T09:13:28.000Z",
        ],
        [
            "id": "2", "name": "ABC", "age": 8, "String": "a", "weight": 6.5, "price": 1, "firstName": "a",
            "lastName": "bc", "close_dt": "2012-05-29T09:13:29Z", "title": "0123456789abc",
        ],
        ["id": "3", "name": "john", "age": 7, "String": "c", "weight": 6.0, "price": 2, "message": "by $author$"],
        [
            "id": "4", "name": "john", "age": 70, "String": "b", "weight": -7.2,
            "close_dt": "2013-04-30T05:59:59+01:00",
        ],
        ["id": "5", "name": " abc ", "age": 10, "String": "c", "close_dt": "2013-05-31T05:00:00Z"],
        ["id": "6", "name": "john", "age": 11, "String": "d", "close_dt": "2014-05-01T06:59:59.9999999+02:00"],
        ["id": "7", "name": "john", "age": 12, "String": "e"],
        ["id": "8", "name": "john", "age": 13, "String": "a"],
        ["id": "9", "name": "john", "age": 14, "String": "a"],
        ["id": "10", "name": "abc", "age": 1, "message": "$author$"],
    ]
}

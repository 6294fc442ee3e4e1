internal import SluiceBase

/// The value that links a record to others: that of a reference's column.
///
/// An id is always a text in a record, and the column that refers to it may hold a number: both are the same link.
struct LinkValue: Sendable, Hashable {
    /// The value as the id of a record.
    let id: RecordID
    var text: String { id.text }

    /// The value of a record's property; nil for null and for a value that cannot be an id.
    init?(_ record: JSON, _ column: PropertyName) {
        guard let value = record[column] else { return nil }
        if let string = value.string {
            id = .string(string)
        } else if let number = value.int {
            id = .string(String(number))
        } else {
            return nil
        }
    }

    /// The value of the property by which a record is referred to: its id, until the service has assigned the property.
    init?(_ record: JSON, by column: PropertyName, _ reference: TableSchema.Reference) {
        if let value = LinkValue(record, column) {
            self = value
        } else if reference.isAssigned, let value = LinkValue(record, "id") {
            self = value
        } else {
            return nil
        }
    }

    /// The value of a record along a reference.
    init?(_ record: JSON, along reference: TableSchema.Reference) {
        let value =
            reference.isCollection
            ? LinkValue(record, by: reference.column, reference) : LinkValue(record, reference.column)
        guard let value else { return nil }
        self = value
    }

    init(_ id: RecordID) { self.id = .string(id.text) }

    /// Returns the value as a constant for comparing a column.
    func literal(for column: PropertyName, of schema: TableSchema) -> TableQuery.Literal {
        switch column == "id" ? nil : schema.column(column)?.type {
        case .integer, .real:
            Int64(text).map { .number(JSON.Number($0)) } ?? .string(text)
        default: .string(text)
        }
    }

    /// Whether the column can hold the value: a column of numbers holds no other text.
    func fits(_ column: PropertyName, of schema: TableSchema) -> Bool {
        switch column == "id" ? nil : schema.column(column)?.type {
        case .integer, .real: Int64(text) != nil
        default: true
        }
    }

    /// Returns the value in the stored form of a column.
    func json(for column: PropertyName, of schema: TableSchema) -> JSON {
        if case .number(let number) = literal(for: column, of: schema) { return JSON(number) }
        return JSON(text)
    }
}

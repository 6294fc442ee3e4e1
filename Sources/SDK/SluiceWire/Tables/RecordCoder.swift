package import SluiceBase

/// Converts a table's records to the wire's and back, by the type's coding and each side's names of the system
/// properties. JSON is as on the wire: it is neither encoded nor decoded.
package struct RecordCoder<Record: Decodable>: Sendable {
    /// The table, for errors.
    private let table: String?
    /// The names of the system properties that differ: in the type, and on the wire.
    private let renamed: [(member: PropertyName, column: PropertyName)]
    /// The values of properties that a record lacks; nil for none.
    private let defaults: JSON?

    /// Whether the records are JSON.
    package var isJSON: Bool { Record.self == JSON.self }

    /// A coder for the system properties that the type declares and that are among `properties`.
    package init(
        _ table: String?, declared: DeclaredProperties = DeclaredProperties(of: Record.self),
        among properties: Set<SystemProperty> = .all, dialect: @autoclosure () -> Dialect
    ) {
        self.table = table
        defaults = declared.defaults
        renamed = declared.names.compactMap { property, member in
            guard properties.contains(property), let column = dialect().column(for: property) else { return nil }
            let name = PropertyName(member)
            return column == name ? nil : (name, column)
        }
    }

    /// A coder for the system properties that the type declares, by their names in those records.
    package init(_ table: String?, asIn records: [JSON]) {
        let declared = DeclaredProperties(of: Record.self)
        self.table = table
        defaults = declared.defaults
        renamed = declared.names.compactMap { property, member in
            let name = PropertyName("__\(property.rawValue)")
            return member != name.text && records.contains { $0[name] != nil } ? (PropertyName(member), name) : nil
        }
    }

    /// Returns the query with the wire's names of the system properties that the type declares: its `updatedAt` is
    /// `__updatedAt` on azure-v1.
    package func query(_ query: TableQuery) -> TableQuery {
        if renamed.isEmpty { return query }
        let columns = Dictionary(renamed.map { ($0.member, $0.column) }) { first, _ in first }
        func named(_ expression: QueryExpression) -> QueryExpression {
            if case .column(let name) = expression { return .column(columns[name] ?? name) }
            return expression.mappingChildren(named)
        }
        var query = query
        query.filter = query.filter.map(named)
        for index in query.order.indices { query.order[index].expression = named(query.order[index].expression) }
        query.select = query.select.map { columns[$0] ?? $0 }
        return query
    }

    /// Returns the record of a document.
    ///
    /// - Parameter isServers: whether the document is the server's; else it is the local store's.
    /// - Throws: ``SluiceError`` of code `invalidRecord`, with the server's document as ``SluiceError/serverRecord``;
    ///   the cause is the `DecodingError`.
    package func decode(_ document: JSON, isServers: Bool = true) throws(SluiceError) -> Record {
        if isJSON, let record = document as? Record { return record }
        var renamed = document
        for (member, column) in self.renamed {
            guard let value = document[column] else { continue }
            renamed[column] = nil
            renamed[member] = value
        }
        do {
            return try decode(completing: renamed)
        } catch {
            throw SluiceError(
                .invalidRecord, "the \(isServers ? "server's" : "local") record does not fit \(Record.self)",
                table: table,
                recordID: document["id"]?.textID, serverRecord: isServers ? document : nil, cause: error)
        }
    }

    /// Returns the local store's documents that fit the type, with their values, and an error for each other document.
    package func sorted(_ documents: [JSON]) -> (fitting: [JSON], records: [Record], misfits: [SluiceError]) {
        if let records = same(documents) { return (documents, records, []) }
        var (fitting, records, misfits): ([JSON], [Record], [SluiceError]) = ([], [], [])
        for document in documents {
            do throws(SluiceError) {
                records.append(try decode(document, isServers: false))
                fitting.append(document)
            } catch {
                misfits.append(error)
            }
        }
        return (fitting, records, misfits)
    }

    /// Returns each record of the local store's documents, or an error where one does not fit the type.
    package func results(_ documents: [JSON]) -> [Result<Record, SluiceError>] {
        documents.map { document in
            Result { () throws(SluiceError) in try decode(document, isServers: false) }
        }
    }

    /// Returns the records of the server's documents.
    func decode(_ documents: [JSON]) throws(SluiceError) -> [Record] {
        if let records = same(documents) { return records }
        var records: [Record] = []
        records.reserveCapacity(documents.count)
        for document in documents { records.append(try decode(document)) }
        return records
    }

    /// Returns the documents themselves where they are the records; nil where the records have another type. The cast
    /// is of the array as one value: a cast from one array's type to another's would look at each element.
    private func same(_ documents: Any) -> [Record]? { isJSON ? documents as? [Record] : nil }

    private func decode(completing document: JSON) throws -> Record {
        func filled(_ lacks: (JSON?) -> Bool) -> JSON {
            guard let defaults else { return document }
            var filled = document
            for (name, value) in defaults.members ?? [] where name != "id" && lacks(document[name]) {
                filled[name] = value
            }
            return filled
        }
        do {
            return try JSONRecordDecoder().decode(Record.self, from: filled { $0 == nil })
        } catch DecodingError.valueNotFound where defaults != nil {
            // A null where the type has no optional: servers write it for a column that is newer than the row.
            return try JSONRecordDecoder().decode(Record.self, from: filled { $0?.isNull ?? true })
        }
    }
}

extension RecordCoder where Record: Encodable {
    /// Returns the record in the wire's form.
    ///
    /// - Parameter withNulls: whether nil properties are written as null, which clears them at the server. Otherwise
    ///   they are left out, which keeps their values, or sets the server's default.
    /// - Throws: ``SluiceError`` of code `invalidRecord`; the cause is the `EncodingError`.
    package func encode(_ record: Record, withNulls: Bool) throws(SluiceError) -> JSON {
        if isJSON, let document = record as? JSON { return document }
        var document: JSON
        do {
            var encoder = JSONRecordEncoder()
            encoder.writesNulls = withNulls
            document = try encoder.encode(record)
        } catch {
            throw SluiceError(
                .invalidRecord, "a \(Record.self) cannot be written as JSON", table: table, cause: error)
        }
        guard document.kind == .object else {
            throw SluiceError(.invalidRecord, "a \(Record.self) is no JSON object", table: table)
        }
        for (member, column) in renamed {
            guard let value = document[member] else { continue }
            document[member] = nil
            document[column] = value
        }
        return document
    }

    /// Returns the record in the wire's form, with unchanged properties as in one of `originals`. A property is
    /// unchanged if the type reads it from there and writes the same value. So a time in other digits, or a missing
    /// property, is no change.
    package func encode(_ record: Record, unchangedFrom originals: [JSON]) throws(SluiceError) -> JSON {
        let written = try encode(record, withNulls: true)
        var document = written
        // If several originals have the same value for the type, the first counts.
        for original in originals.reversed() {
            guard let value = try? decode(original, isServers: false),
                let same = try? encode(value, withNulls: true)
            else { continue }
            for (name, value) in same.members ?? [] where written[name] == value { document[name] = original[name] }
        }
        return document
    }
}

package import SluiceBase

/// Converts typed records to the wire's and back, by the type's coding and each side's names of the system properties.
package struct RecordCoder: Sendable {
    /// The names of the system properties that differ: in the type, and on the wire.
    private let renamed: [(member: PropertyName, column: PropertyName)]
    /// The values of properties that a record lacks.
    private let defaults: JSON

    /// A coder for the system properties that the type declares and that are among `properties`.
    package init(_ declared: DeclaredProperties, among properties: Set<SystemProperty> = .all, dialect: Dialect) {
        defaults = declared.defaults
        renamed = declared.names.compactMap { property, member in
            guard properties.contains(property), let column = dialect.column(for: property) else { return nil }
            let name = PropertyName(member)
            return column == name ? nil : (name, column)
        }
    }

    /// A coder for the system properties that the type declares, by their names in those records.
    package init(_ declared: DeclaredProperties, asIn records: [JSON]) {
        defaults = declared.defaults
        renamed = declared.names.compactMap { property, member in
            let name = PropertyName("__\(property.rawValue)")
            return member != name.text && records.contains { $0[name] != nil } ? (PropertyName(member), name) : nil
        }
    }

    /// Returns the record in the wire's form.
    ///
    /// - Parameter withNulls: whether nil properties are written as null, which clears them at the server. Otherwise
    ///   they are left out, which keeps their values, or sets the server's default.
    /// - Throws: ``SluiceError`` of code `invalidRecord`; the cause is the `EncodingError`.
    package func encode(_ record: some Encodable, withNulls: Bool, table: String) throws(SluiceError) -> JSON {
        var document: JSON
        do {
            var encoder = JSONRecordEncoder()
            encoder.writesNulls = withNulls
            document = try encoder.encode(record)
        } catch {
            throw SluiceError(
                .invalidRecord, "a \(type(of: record)) cannot be written as JSON", table: table, cause: error)
        }
        guard document.kind == .object else {
            throw SluiceError(.invalidRecord, "a \(type(of: record)) is no JSON object", table: table)
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
    package func encode<Record: Codable>(
        _ record: Record, unchangedFrom originals: [JSON], table: String
    ) throws(SluiceError) -> JSON {
        let written = try encode(record, withNulls: true, table: table)
        var document = written
        // If several originals have the same value for the type, the first counts.
        for original in originals.reversed() {
            guard let value = try? decode(Record.self, from: original, table: table, isServers: false),
                let same = try? encode(value, withNulls: true, table: table)
            else { continue }
            for (name, value) in same.members ?? [] where written[name] == value { document[name] = original[name] }
        }
        return document
    }

    /// Returns the typed record of a document.
    ///
    /// - Parameter isServers: whether the document is the server's; else it is the local store's.
    /// - Throws: ``SluiceError`` of code `invalidRecord`, with the server's document as ``SluiceError/serverRecord``;
    ///   the cause is the `DecodingError`.
    package func decode<Record: Decodable>(
        _ type: Record.Type, from document: JSON, table: String?, isServers: Bool = true
    ) throws(SluiceError) -> Record {
        var renamed = document
        for (member, column) in self.renamed {
            guard let value = document[column] else { continue }
            renamed[column] = nil
            renamed[member] = value
        }
        do {
            return try decode(type, from: renamed)
        } catch {
            throw SluiceError(
                .invalidRecord, "the \(isServers ? "server's" : "local") record does not fit \(type)", table: table,
                recordID: document["id"]?.textID, serverRecord: isServers ? document : nil, cause: error)
        }
    }

    /// Returns the local store's documents that fit the type, with their values, and an error for each other document.
    package func sorted<Record: Decodable>(
        _ type: Record.Type, _ documents: [JSON], table: String?
    ) -> (fitting: [JSON], records: [Record], misfits: [SluiceError]) {
        var (fitting, records, misfits): ([JSON], [Record], [SluiceError]) = ([], [], [])
        for document in documents {
            do throws(SluiceError) {
                records.append(try decode(type, from: document, table: table, isServers: false))
                fitting.append(document)
            } catch {
                misfits.append(error)
            }
        }
        return (fitting, records, misfits)
    }

    private func decode<Record: Decodable>(_ type: Record.Type, from document: JSON) throws -> Record {
        func filled(_ lacks: (JSON?) -> Bool) -> JSON {
            var filled = document
            for (name, value) in defaults.members ?? [] where name != "id" && lacks(document[name]) {
                filled[name] = value
            }
            return filled
        }
        do {
            return try JSONRecordDecoder().decode(type, from: filled { $0 == nil })
        } catch DecodingError.valueNotFound where defaults != .object {
            // A null where the type has no optional: servers write it for a column that is newer than the row.
            return try JSONRecordDecoder().decode(type, from: filled { $0?.isNull ?? true })
        }
    }
}

package import SluiceBase

/// Turns typed records into the wire's and back: the coding of the type, with the system properties under the names
/// that each side has for them.
package struct RecordCoder: Sendable {
    /// The names of the system properties that differ: in the type, and on the wire.
    private let renamed: [(member: PropertyName, column: PropertyName)]
    /// The values of properties that a record lacks.
    private let defaults: JSON

    /// A coder for what the type declares, as far as it is among `properties`.
    package init(_ declared: DeclaredProperties, among properties: Set<SystemProperty> = .all, dialect: Dialect) {
        defaults = declared.defaults
        renamed = declared.names.compactMap { property, member in
            guard properties.contains(property), let column = dialect.column(for: property) else { return nil }
            let name = PropertyName(member)
            return column == name ? nil : (name, column)
        }
    }

    /// A coder for what the type declares, by the names that those records have for it.
    package init(_ declared: DeclaredProperties, asIn records: [JSON]) {
        defaults = declared.defaults
        renamed = declared.names.compactMap { property, member in
            let name = PropertyName("__\(property.rawValue)")
            return member != name.text && records.contains { $0[name] != nil } ? (PropertyName(member), name) : nil
        }
    }

    /// The record as the wire has it.
    ///
    /// - Parameter withNulls: whether properties that are nil are written as null, which clears them at the server;
    ///   else they are left out, which leaves them as they are, or to the server's default.
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

    /// The record as the wire has it, where what the type reads from one of `originals` and writes back the same is as
    /// it stands there: a time in other digits, or a property that is not there, has not been changed.
    package func encode<Record: Codable>(
        _ record: Record, unchangedFrom originals: [JSON], table: String
    ) throws(SluiceError) -> JSON {
        let written = try encode(record, withNulls: true, table: table)
        var document = written
        // Of several that are the same to the type the first counts.
        for original in originals.reversed() {
            guard let value = try? decode(Record.self, from: original, table: table, isServers: false),
                let same = try? encode(value, withNulls: true, table: table)
            else { continue }
            for (name, value) in same.members ?? [] where written[name] == value { document[name] = original[name] }
        }
        return document
    }

    /// The typed record of a document.
    ///
    /// - Parameter isServers: whether the document is the server's; else it is of the local store.
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

    /// The values of the documents of the local store that fit the type, with the documents, and an error for each other.
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

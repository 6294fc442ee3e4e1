internal import HTTPTypes
internal import SluiceBase
public import SluiceOData
public import SluiceSync
public import SluiceWire

/// The metadata documents of services in a local store, so that a store can be opened without reading them again.
enum KeptMetadata {
    /// One record for each service.
    static let schema = TableSchema("sluice_metadata", columns: [.init("text", .string)])

    /// Keeps a document, which is always UTF-8.
    static func put(_ bytes: [UInt8], of service: String, in store: any StoreWriter) throws {
        try store.put(["id": JSON(service), "text": JSON(String(decoding: bytes, as: UTF8.self))], in: schema.name)
    }

    static func bytes(of service: String, in store: any StoreReader) throws -> [UInt8]? {
        try store.record(RecordID(service), in: schema.name)?["text"]?.string.map { Array($0.utf8) }
    }
}

extension SluiceClient {
    /// Reads the OData service's data model from `$metadata`; if the service cannot be reached, returns the last one
    /// read.
    ///
    /// ```swift
    /// let local = try SQLiteStore(path: "agencies.db")
    /// let tables = try await client.metadata(keptIn: local).linkedTables
    /// ```
    ///
    /// The document is kept unchanged in the store, beside the records; each call that reaches the service keeps the
    /// new one.
    ///
    /// - Throws: as ``metadata()``; of the network if the store has no document either; of the store.
    public func metadata(keptIn store: any LocalStore) async throws -> EdmModel {
        try await store.define([KeptMetadata.schema])
        let service = endpoint.identity
        do {
            let bytes = try await metadataDocument()
            let model = try EdmModel(document: bytes)
            try await store.write { try KeptMetadata.put(bytes, of: service, in: $0) }
            return model
        } catch let error as SluiceError where error.serviceIsAway {
            guard let bytes = try await store.read({ try KeptMetadata.bytes(of: service, in: $0) }) else { throw error }
            return try EdmModel(document: bytes)
        }
    }
}

extension SluiceClient {
    /// Reads the OData service's data model from `$metadata`.
    ///
    /// - Throws: ``SluiceError`` of code `unsupported` on a wire that has no metadata; `brokenProtocol` for a document
    ///   that cannot be read; of the network.
    public func metadata() async throws -> EdmModel { try EdmModel(document: try await metadataDocument()) }

    func metadataDocument() async throws -> [UInt8] {
        guard dialect.isOData else {
            throw SluiceError(.unsupported, "the wire \(dialect.name) has no metadata; declare the tables instead")
        }
        var head = HTTPRequest(
            method: .get, scheme: endpoint.scheme, authority: endpoint.authority,
            path: "\(endpoint.path)/api/$metadata")
        head.headerFields[.accept] = "application/xml"
        let response = try await send(SyncRequest(head, context: SyncRequest.Context(action: .custom)))
        guard response.status == 200 else {
            throw SluiceError(
                SluiceError.Code(status: response.status) ?? .brokenProtocol, "the service's metadata cannot be read",
                status: response.status)
        }
        return Array(response.body.bytes)
    }
}

internal import HTTPTypes
internal import SluiceBase
public import SluiceOData
public import SluiceWire

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

internal import SluiceBase
public import SluiceWire

/// The address below which a service's tables are.
public struct ServiceRoot: Sendable, Hashable {
    let endpoint: Endpoint
    /// The folder between the endpoint's path and a table's name: `tables` on the wires of Mobile Apps.
    let folder: String?

    /// The root of a client's service.
    public init(_ client: SluiceClient) {
        endpoint = client.endpoint
        folder = client.dialect.isOData ? nil : "tables"
    }

    /// Returns the part of an address after the service's root.
    static func relative(_ address: String, to root: ServiceRoot?) throws(SluiceError) -> Substring {
        let start = address.prefix { $0 != "?" && $0 != "(" && $0 != "'" }
        var path = address[...]
        if let separator = start.firstRange(of: "://") {
            guard let root else {
                throw SluiceError(.invalidArgument, "a whole address needs a service whose address it is")
            }
            let rest = address[separator.upperBound...]
            let authority = rest.prefix { $0 != "/" && $0 != "?" }
            guard root.endpoint.isOrigin(scheme: String(start[..<separator.lowerBound]), authority: String(authority))
            else { throw foreign }
            path = rest.dropFirst(authority.count)
            guard path.hasPrefix(root.endpoint.path + "/") else { throw foreign }
        } else if start.hasPrefix("//") {
            throw foreign
        } else if !start.hasPrefix("/") {
            return path
        }
        guard let root else { return path }
        if path.hasPrefix(root.endpoint.path + "/") { path = path.dropFirst(root.endpoint.path.count) }
        if let folder = root.folder, path.hasPrefix("/\(folder)/") { path = path.dropFirst(folder.count + 1) }
        return path
    }

    private static var foreign: SluiceError {
        SluiceError(.invalidArgument, "the address leads to another service than the store's")
    }
}

extension Dialect {
    /// Whether it is an OData service, whose addresses serve to call functions and follow links.
    var isOData: Bool { adapter != nil }
}

/// A request as it came over the wire to a hostile server.
public struct HostileRequest: Sendable {
    /// The how manieth request to this server it is, from 1.
    public let number: Int
    /// The how manieth connection it came on, from 1.
    public let connection: Int
    /// The method: `GET`.
    public let method: String
    /// The path with its query, as it was sent.
    public let target: String
    /// The header fields in their order.
    public let fields: [(name: String, value: String)]
    /// The body.
    public let body: [UInt8]
    /// Host and port of the server: `127.0.0.1:40123`.
    public let server: String
    /// Host and port of the second listener, which must not hear anything.
    public let elsewhere: String

    /// The values of the header fields of that name, whatever its case.
    public func values(_ name: String) -> [String] {
        fields.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
    }

    /// All that was sent as one text, to look for something that should not be in it.
    public var text: String {
        let head = fields.map { "\($0.name): \($0.value)" }.joined(separator: "\r\n")
        return "\(method) \(target)\r\n\(head)\r\n\r\n\(String(decoding: body, as: UTF8.self))"
    }
}

package import HTTPTypes

/// Writes a `multipart/mixed` body (RFC 2046, section 5.1), whose parts are HTTP messages or bodies of such a kind.
package struct MultipartWriter {
    private let boundary: String
    private var bytes: [UInt8] = []

    /// A body with a given boundary.
    package init(boundary: String) { self.boundary = boundary }

    /// A body with the first of several boundaries that occurs in none of the messages.
    package init(of messages: some Collection<[UInt8]>, boundary next: () -> String) {
        while true {
            let boundary = next()
            let line = Array("--\(boundary)".utf8)
            if messages.contains(where: { $0.contains(line) }) { continue }
            self.init(boundary: boundary)
            return
        }
    }

    /// The media type of the body.
    package var type: String { "multipart/mixed; boundary=\(boundary)" }

    /// The body with its end.
    package var body: [UInt8] { bytes + Array("--\(boundary)--\r\n".utf8) }

    /// Adds a part.
    package mutating func add(_ fields: [(String, String)], _ content: some Sequence<UInt8>) {
        bytes += "--\(boundary)\r\n".utf8
        for (name, value) in fields { bytes += "\(name): \(value)\r\n".utf8 }
        bytes += "\r\n".utf8
        bytes += content
        bytes += "\r\n".utf8
    }

    /// Adds an HTTP message. Its id is only told if it is valid in a header.
    package mutating func add(_ message: [UInt8], id: String?) {
        var fields = [("Content-Type", "application/http"), ("Content-Transfer-Encoding", "binary")]
        if let id, HTTPField.isValidValue(id) { fields.append(("Content-ID", id)) }
        add(fields, message)
    }

    /// Returns an HTTP message (RFC 9112, section 2.1) with its first line. A request without a body tells no length.
    package static func message(
        _ line: String, _ fields: some Sequence<HTTPField>, _ body: [UInt8], tellsLength: Bool = true
    ) -> [UInt8] {
        var head = "\(line)\r\n"
        for field in fields { head += "\(field.name.rawName): \(field.value)\r\n" }
        if tellsLength { head += "Content-Length: \(body.count)\r\n" }
        return Array((head + "\r\n").utf8) + body
    }
}

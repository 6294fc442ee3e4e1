/// Reads requests from a connection, as far as a server needs to that only lies in its answers.
struct HostileReader {
    /// What a request consists of.
    struct Parts {
        var method: String
        var target: String
        var fields: [(name: String, value: String)]
        var body: [UInt8]
    }

    /// No client of ours sends more.
    private static let largest = 4 << 20

    let socket: HostileSocket
    private var pending: [UInt8] = []

    init(_ socket: HostileSocket) { self.socket = socket }

    /// The next request; nil once the client has left, or sends what is no request.
    mutating func next() -> Parts? {
        guard let head = take(through: "\r\n\r\n") else { return nil }
        var lines = String(decoding: head, as: UTF8.self).split(separator: "\r\n")
        guard !lines.isEmpty else { return nil }
        let words = lines.removeFirst().split(separator: " ")
        guard words.count == 3 else { return nil }
        let fields = lines.map { line in
            let name = line.prefix { $0 != ":" }
            return (name: String(name), value: String(line.dropFirst(name.count + 1).drop { $0 == " " }))
        }
        func value(_ name: String) -> String? { fields.first { $0.name.lowercased() == name }?.value }
        var body: [UInt8]? = []
        if let length = value("content-length").flatMap({ Int($0) }) {
            body = take(length)
        } else if value("transfer-encoding")?.lowercased() == "chunked" {
            body = chunks()
        }
        return body.map { Parts(method: String(words[0]), target: String(words[1]), fields: fields, body: $0) }
    }

    private mutating func chunks() -> [UInt8]? {
        var body: [UInt8] = []
        while let line = take(through: "\r\n") {
            let digits = String(decoding: line, as: UTF8.self).prefix { $0.isHexDigit }
            guard let size = Int(digits, radix: 16), let chunk = take(size), take(through: "\r\n") != nil else {
                return nil
            }
            body += chunk
            if size == 0 { return body }
        }
        return nil
    }

    private mutating func take(through mark: String) -> [UInt8]? {
        while true {
            if let range = pending.firstRange(of: Array(mark.utf8)) {
                let taken = Array(pending[..<range.upperBound])
                pending.removeSubrange(..<range.upperBound)
                return taken
            }
            guard readMore() else { return nil }
        }
    }

    private mutating func take(_ count: Int) -> [UInt8]? {
        guard 0...Self.largest ~= count else { return nil }
        while pending.count < count { guard readMore() else { return nil } }
        defer { pending.removeFirst(count) }
        return Array(pending.prefix(count))
    }

    private mutating func readMore() -> Bool {
        guard pending.count <= Self.largest, let bytes = socket.read() else { return false }
        pending += bytes
        return true
    }
}

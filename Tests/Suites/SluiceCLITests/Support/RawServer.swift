import Foundation
import Synchronization

/// A server that answers every request with the same bytes, whatever was asked.
final class RawServer: Sendable {
    let port: Int
    private let listener: Int32

    /// Listens on a free port. After each answer the connection is closed.
    ///
    /// - Parameter pause: the seconds before each answer.
    init(_ answer: String, after pause: Double = 0) throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, length) == 0 && listen(listener, 16) == 0 && getsockname(listener, $0, &length) == 0
            }
        }
        guard isBound else { throw CannotListen() }
        self.listener = listener
        port = Int(UInt16(bigEndian: address.sin_port))
        let bytes = Array(answer.utf8)
        Thread.detachNewThread {
            while true {
                let connection = accept(listener, nil, nil)
                guard connection >= 0 else { return }
                var request: [UInt8] = []
                var buffer = [UInt8](repeating: 0, count: 65536)
                while !Self.isWhole(request) {
                    let count = recv(connection, &buffer, buffer.count, 0)
                    guard count > 0 else { break }
                    request += buffer[..<count]
                }
                Thread.sleep(forTimeInterval: pause)
                _ = bytes.withUnsafeBytes { send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
                shutdown(connection, Int32(SHUT_RDWR))
                close(connection)
            }
        }
    }

    var endpoint: String { "http://127.0.0.1:\(port)" }

    func stop() {
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
    }

    /// Whether head and body have arrived.
    private static func isWhole(_ request: [UInt8]) -> Bool {
        let text = String(decoding: request, as: UTF8.self)
        guard let end = text.range(of: "\r\n\r\n") else { return false }
        let head = text[..<end.lowerBound].lowercased()
        guard let field = head.range(of: "content-length: ") else { return true }
        let length = Int(head[field.upperBound...].prefix { $0.isNumber }) ?? 0
        return text[end.upperBound...].utf8.count >= length
    }

    struct CannotListen: Error {}

    /// An answer of HTTP/1.1.
    static func answer(
        _ status: String, _ body: String, type: String = "application/json", length: Int? = nil
    ) -> String {
        "HTTP/1.1 \(status)\r\nContent-Type: \(type)\r\nContent-Length: \(length ?? body.utf8.count)\r\n"
            + "Connection: close\r\n\r\n\(body)"
    }
}

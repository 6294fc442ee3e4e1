/// One thing that a hostile server does with a connection.
public enum HostileAct: Sendable, Hashable {
    /// Sends those bytes, whatever they are.
    case send([UInt8])
    /// Sends those bytes over and over, that many times, without holding them all in memory.
    case repeated([UInt8], times: Int)
    /// Sends those bytes one by one, with that pause before each.
    case drip([UInt8], every: Duration)
    /// Does nothing for that long, or until the client leaves.
    case pause(Duration)
    /// Closes the connection.
    case close
    /// Breaks the connection, so that the other side gets a reset.
    case reset
    /// Says nothing more, until the client leaves.
    case hold

    /// Sends a text.
    public static func text(_ text: String) -> HostileAct { .send(Array(text.utf8)) }

    /// Sends a whole answer whose framing is right.
    ///
    /// - Parameters:
    ///   - fields: header fields as they go out, unchecked: a value may hold a line break.
    ///   - body: the body; its length is announced as it is.
    public static func answer(_ status: Int, _ fields: [(String, String)] = [], body: [UInt8] = []) -> HostileAct {
        var head = "HTTP/1.1 \(status) Status\r\nContent-Length: \(body.count)\r\n"
        for (name, value) in fields { head += "\(name): \(value)\r\n" }
        return .send(Array((head + "\r\n").utf8) + body)
    }

    /// Sends a whole answer that is said to be JSON.
    public static func json(_ status: Int, _ text: String, _ fields: [(String, String)] = []) -> HostileAct {
        .answer(status, [("Content-Type", "application/json")] + fields, body: Array(text.utf8))
    }
}

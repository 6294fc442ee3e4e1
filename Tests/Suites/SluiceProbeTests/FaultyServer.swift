import HTTPTypes
import SluiceCore
import SluiceTesting
import Synchronization

/// The model server with one fault in front of it.
final class FaultyServer: Transport {
    /// What a fault does: it may answer itself, change the request, and change the answer.
    typealias Fault =
        @Sendable (SyncRequest, _ server: ModelServer, _ pass: (SyncRequest) async throws -> SyncResponse) async throws
        -> SyncResponse

    static let start = Timestamp(ticks: 17_000_000_000_000_000)

    let model: ModelServer
    private let fault: Fault

    init(_ model: ModelServer, _ fault: @escaping Fault) { (self.model, self.fault) = (model, fault) }

    func send(_ request: SyncRequest) async throws -> SyncResponse {
        try await fault(request, model) { try await self.model.send($0) }
    }

    /// A model server with thirty rows, of which six have one time.
    static func model(pageSize: Int = 50) -> ModelServer {
        let model = ModelServer(pageSize: pageSize, start: start)
        let ids = (10..<40).map { "row-\($0)" }
        model.seed("items", ids.map { ["id": JSON($0), "text": "x"] })
        model.restamp("items", ids[10..<16].map { RecordID($0) }, at: start)
        return model
    }
}

/// What faults are made of.
extension FaultyServer {
    /// Changes the request.
    static func request(_ change: @escaping @Sendable (inout SyncRequest) -> Void) -> Fault {
        { request, _, pass in
            var request = request
            change(&request)
            return try await pass(request)
        }
    }

    /// Changes the answer.
    static func answer(_ change: @escaping @Sendable (SyncRequest, inout SyncResponse) -> Void) -> Fault {
        { request, _, pass in
            var response = try await pass(request)
            change(request, &response)
            return response
        }
    }

    /// Answers the requests that fit with that status and body, without their effect.
    static func refuse(
        _ status: Int, _ body: String = #"{"error":"no"}"#, where fits: @escaping @Sendable (SyncRequest) -> Bool
    ) -> Fault {
        { request, _, pass in fits(request) ? .json(status, body) : try await pass(request) }
    }

    /// Changes each row of an answer that is a list or a record.
    static func rows(
        where fits: @escaping @Sendable (SyncRequest) -> Bool = { _ in true },
        _ change: @escaping @Sendable (inout JSON) -> Void
    ) -> Fault {
        answer { request, response in
            guard fits(request), response.status < 300 || response.status == 409 || response.status == 412 else {
                return
            }
            response.change(change)
        }
    }

    /// Changes the value of a query parameter; nil takes it away.
    static func parameter(_ name: String, _ change: @escaping @Sendable (String) -> String?) -> Fault {
        request { $0.change(name, change) }
    }
}

extension SyncRequest {
    var method: String { head.method.rawValue }
    /// The path with its query, decoded.
    var target: String { (head.path ?? "").removingPercent }
    func has(_ text: String) -> Bool { target.contains(text) }
    /// Whether it is about one record of the table.
    func isRecord(of table: String = "probes") -> Bool { target.hasPrefix("/tables/\(table)/") && !has("$batch") }

    mutating func change(_ name: String, _ change: (String) -> String?) {
        let parts = (head.path ?? "").split(separator: "?", maxSplits: 1).map(String.init)
        guard parts.count == 2 else { return }
        let query = parts[1].split(separator: "&").compactMap { part -> String? in
            let (key, value) = (part.prefix { $0 != "=" }, part.drop { $0 != "=" }.dropFirst())
            guard key == name else { return String(part) }
            return change(String(value)).map { "\(key)=\($0)" }
        }
        head.path = query.isEmpty ? parts[0] : "\(parts[0])?\(query.joined(separator: "&"))"
    }

    mutating func set(_ field: String, _ value: String?) {
        if let name = HTTPField.Name(field) { head.headerFields[name] = value }
    }

    mutating func setBody(_ change: (inout JSON) -> Void) {
        guard var json = try? body.json else { return }
        change(&json)
        body = MessageBody(json: json)
    }
}

extension SyncResponse {
    subscript(field: String) -> String? {
        get { HTTPField.Name(field).flatMap { head.headerFields[$0] } }
        set { if let name = HTTPField.Name(field) { head.headerFields[name] = newValue } }
    }

    mutating func change(_ change: (inout JSON) -> Void) {
        guard var json = try? body.json, !body.isEmpty else { return }
        if let rows = json["results"]?.elements ?? json.elements {
            let changed = JSON(
                rows.map { row in
                    var row = row
                    change(&row)
                    return row
                })
            if json["results"] != nil { json["results"] = changed } else { json = changed }
        } else if json["id"] != nil {
            change(&json)
        }
        body = MessageBody(json: json)
    }

    /// Changes the list of rows of an answer.
    mutating func changeList(_ change: ([JSON]) -> [JSON]) {
        guard var json = try? body.json else { return }
        if let rows = json["results"]?.elements {
            json["results"] = JSON(change(rows))
        } else if let rows = json.elements {
            json = JSON(change(rows))
        }
        body = MessageBody(json: json)
    }
}

extension String {
    fileprivate var removingPercent: String {
        var bytes: [UInt8] = []
        var rest = Array(utf8)[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), let code = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) {
                bytes.append(code)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// A number that a fault counts with.
final class Counter: Sendable {
    private let count = Mutex(0)
    func next() -> Int {
        count.withLock { count in
            count += 1
            return count
        }
    }
}

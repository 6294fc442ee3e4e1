internal import AsyncHTTPClient
internal import Foundation
internal import NIOCore
internal import NIOHTTP1

/// One of the copies that the demo compares, read in the order of the ids and without Sluice's code.
enum DemoRows {
    /// The copy in a store's file.
    case file(String, SQLiteProgram)
    /// The copy on the server.
    case server(String)

    /// Returns up to `count` rows from number `start`, each value as plain text by its name.
    func page(from start: Int, count: Int) async throws -> [[String: String]] {
        switch self {
        case .file(let path, let sqlite):
            let sql = "SELECT * FROM movies ORDER BY id LIMIT \(count) OFFSET \(start)"
            return try sqlite.rows(sql, in: path).map(Self.unfolded)
        case .server(let endpoint):
            // The server may send fewer rows than requested.
            var rows: [[String: Any]] = []
            while rows.count < count {
                let more = try await Self.get(
                    "\(endpoint)/tables/movies?$orderby=id&$skip=\(start + rows.count)&$top=\(count - rows.count)")
                if more.isEmpty { break }
                rows += more
            }
            return rows.map(Self.texts)
        }
    }

    private static func get(_ url: String) async throws -> [[String: Any]] {
        var request = HTTPClientRequest(url: url)
        request.headers.add(name: "ZUMO-API-VERSION", value: "2.0.0")
        let status: HTTPResponseStatus
        let body: ByteBuffer
        do {
            let response = try await HTTPClient.shared.execute(request, timeout: .seconds(60))
            status = response.status
            body = try await response.body.collect(upTo: 1 << 28)
        } catch {
            throw CommandFailure(.network, "network", "\(url) cannot be read: \(error)")
        }
        guard status == .ok,
            let rows = try JSONSerialization.jsonObject(with: Data(body.readableBytesView)) as? [[String: Any]]
        else { throw CommandFailure(.brokenProtocol, "brokenProtocol", "\(url) answered \(status.code)") }
        return rows
    }

    /// Returns a row of a store's table, with the properties without a column taken out of `_extra`.
    private static func unfolded(_ row: [String: Any]) throws -> [String: String] {
        var values = row
        values["_extra"] = nil
        values["_absent"] = nil
        if let text = row["_extra"] as? String,
            let extra = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
        {
            values.merge(extra) { _, extra in extra }
        }
        return texts(values)
    }

    /// Returns the values as text. SQLite has no booleans, so `true` is 1 here; a null counts as absent.
    private static func texts(_ row: [String: Any]) -> [String: String] {
        row.compactMapValues { value in
            switch value {
            case is NSNull: nil
            case let text as String: text
            case let number as NSNumber:
                Int64(exactly: number.doubleValue) == number.int64Value
                    ? String(number.int64Value) : String(number.doubleValue)
            default: "\(value)"
            }
        }
    }
}

internal import HTTPTypes
internal import SluiceCore

/// Batches of `multipart/mixed` as the simulated service reads and answers them. It shares no code with the client's.
enum ServiceMultipart {
    /// What the service says of one request, or of a change set.
    struct Told {
        var id: String
        var group: String?
        var response: Response
        /// Whether it stands for a whole change set, which failed.
        var isReason = false
    }

    /// The requests of a batch; nil for what is no batch.
    static func batch(_ bytes: [UInt8], _ type: String) -> ModelBatch? {
        guard let boundary = mark(of: type) else { return nil }
        var parts: [ModelBatch.Part] = []
        for (index, outer) in split(bytes[...], boundary).enumerated() {
            let (fields, content) = head(outer)
            if let inner = fields["content-type"].flatMap({ mark(of: $0) }) {
                for change in split(content, inner) {
                    guard let part = part(change, group: "set\(index)") else { return nil }
                    parts.append(part)
                }
            } else {
                guard let part = part(outer, group: nil) else { return nil }
                parts.append(part)
            }
        }
        return parts.count <= 100 ? ModelBatch(parts: parts) : nil
    }

    /// The boundary that a media type names.
    private static func mark(of type: String) -> String? {
        guard type.hasPrefix("multipart/mixed"), let mark = type.firstRange(of: "boundary=") else { return nil }
        return String(type[mark.upperBound...].prefix { $0 != ";" }.filter { $0 != "\"" })
    }

    /// What stands between the lines of a boundary.
    private static func split(_ bytes: ArraySlice<UInt8>, _ boundary: String) -> [ArraySlice<UInt8>] {
        let line = Array("--\(boundary)".utf8)
        var parts: [ArraySlice<UInt8>] = []
        var rest = bytes
        var isFirst = true
        while let found = rest.firstRange(of: line) {
            if !isFirst { parts.append(rest[..<found.lowerBound].dropLast(2)) }
            isFirst = false
            rest = rest[found.upperBound...]
            if rest.starts(with: "--".utf8) { break }
            rest = rest.dropFirst(2)
        }
        return parts
    }

    private static func head(_ bytes: ArraySlice<UInt8>) -> (fields: [String: String], rest: ArraySlice<UInt8>) {
        guard let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else { return ([:], bytes) }
        var fields: [String: String] = [:]
        for line in String(decoding: bytes[..<end.lowerBound], as: UTF8.self).split(separator: "\r\n") {
            guard let colon = line.firstIndex(of: ":") else { continue }
            fields[line[..<colon].lowercased()] = String(line[line.index(after: colon)...].drop { $0 == " " })
        }
        return (fields, bytes[end.upperBound...])
    }

    private static func part(_ bytes: ArraySlice<UInt8>, group: String?) -> ModelBatch.Part? {
        let (outer, content) = head(bytes)
        let (fields, body) = head(content)
        let line = String(decoding: content.prefix { $0 != UInt8(ascii: "\r") }, as: UTF8.self).split(separator: " ")
        guard outer["content-type"] == "application/http", line.count == 3, let id = outer["content-id"],
            let method = HTTPRequest.Method(String(line[0]))
        else { return nil }
        var head = HTTPRequest(method: method, scheme: nil, authority: nil, path: "/\(line[1])")
        for (name, value) in fields {
            if let name = HTTPField.Name(name), HTTPField.isValidValue(value) { head.headerFields[name] = value }
        }
        return ModelBatch.Part(
            id: id, group: group, dependsOn: [], request: Request(head, body: Body(bytes: Array(body))))
    }

    /// The answers as the service tells them: of a change set that failed the first reason alone, or in JSON all.
    static func told(
        _ answers: [(id: String, response: Response)], of batch: ModelBatch, isJSON: Bool, failsAtOnce: Bool
    ) -> [Told] {
        let all = zip(answers, batch.parts).map { Told(id: $0.id, group: $1.group, response: $0.response) }
        let failed = Set(all.filter { $0.response.status >= 300 }.compactMap(\.group))
        if isJSON, !failsAtOnce { return all }
        var explained: Set<String> = []
        return all.compactMap { told in
            guard let group = told.group, failed.contains(group) else { return told }
            guard told.response.status != 424, explained.insert(group).inserted else { return nil }
            return Told(id: told.id, group: group, response: told.response, isReason: failsAtOnce)
        }
    }

    static func answer(_ told: [Told]) -> Response {
        var bytes: [UInt8] = []
        var index = 0
        while index < told.count {
            bytes += "--outer\r\n".utf8
            guard let group = told[index].group, !told[index].isReason else {
                bytes += text(told[index])
                index += 1
                continue
            }
            bytes += "Content-Type: multipart/mixed; boundary=inner\r\n\r\n".utf8
            while index < told.count, told[index].group == group {
                bytes += "--inner\r\n".utf8
                bytes += text(told[index])
                index += 1
            }
            bytes += "--inner--\r\n\r\n".utf8
        }
        var response = Response.model(202, nil)
        response.head.headerFields[.contentType] = "multipart/mixed; boundary=outer"
        response.body = Body(bytes: bytes + Array("--outer--\r\n".utf8))
        return response
    }

    private static func text(_ told: Told) -> [UInt8] {
        let body = told.response.body.bytes
        var head =
            "Content-Type: application/http\r\nContent-Transfer-Encoding: binary\r\nContent-ID: \(told.id)\r\n\r\n"
        head += "HTTP/1.1 \(told.response.status) Answer\r\n"
        for field in told.response.head.headerFields { head += "\(field.name.rawName): \(field.value)\r\n" }
        head += "Content-Length: \(body.count)\r\n\r\n"
        return Array(head.utf8) + body + Array("\r\n".utf8)
    }
}

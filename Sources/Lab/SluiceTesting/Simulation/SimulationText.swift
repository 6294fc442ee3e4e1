internal import SluiceCore

/// Short texts of records and pages, for traces that people read.
enum SimulationText {
    /// Returns a record as its id, version and the application's properties, and a page as its records.
    static func of(_ json: JSON?) -> String {
        guard let json else { return "gone" }
        if let rows = json.elements { return "[" + rows.map(of).joined(separator: ", ") + "]" }
        if let rows = json["items"] { return of(rows) }
        guard json.kind == .object else { return "\(json)" }
        let id = json["id"]?.string ?? ""
        if json["sequence"] != nil, json["kind"] != nil { return operation(json) }
        var words = [id]
        for (name, value) in (json.members ?? []).sorted(by: { $0.name < $1.name }) where name != "id" {
            switch name {
            case "createdAt", "table", "record", "endpoint", "user", "wire", "untimed": continue
            case "deleted": if value.bool == true { words.append("deleted") }
            case "version": words.append(value.string ?? "")
            case "base", "mirror": words.append("\(name)=(\(of(value)))")
            case "operation": words.append("(\(operation(value)))")
            default: words.append("\(name)=\(value)")
            }
        }
        return words.joined(separator: " ")
    }

    /// Returns whether the bytes contain a text. It compares bytes, because every request of a simulation is searched.
    static func holds(_ bytes: [UInt8], _ text: String) -> Bool {
        let text = Array(text.utf8)
        return bytes.indices.contains { bytes[$0] == text[0] && bytes[$0...].starts(with: text) }
    }

    private static func operation(_ json: JSON) -> String {
        func text(_ name: String) -> String { json[name].map { $0.string ?? "\($0)" } ?? "" }
        var words = [
            text("kind"), "of \(text("table"))/\(text("record"))", text("state"), "revision \(text("revision"))",
            "attempts \(text("attempts"))",
        ]
        if json["uncertain"]?.bool == true { words.append("uncertain") }
        if let code = json["failure"]?["code"]?.string { words.append("failure \(code)") }
        return words.joined(separator: " ")
    }
}

internal import SluiceCore
internal import SluiceOData

/// What must hold for any bytes as the body of a batch: the first line is its media type.
enum MultipartFuzz {
    static func check(_ input: [UInt8]) throws(FuzzFinding) {
        let end = input.firstIndex(of: UInt8(ascii: "\n")) ?? input.endIndex
        let type = String(decoding: input[..<end], as: UTF8.self)
        let body = input[min(end + 1, input.endIndex)...]
        if let boundary = MultipartReader.boundary(type) {
            try demand((1...70).contains(boundary.utf8.count), "the boundary is \(boundary)")
        }
        let boundary = MultipartReader.boundary(type) ?? "b"
        guard let parts = try? MultipartReader.parts(body, boundary: boundary) else { return }
        // What a part holds is no boundary, and written again it is read as the same.
        guard !boundary.utf8.contains(UInt8(ascii: "\n")), !boundary.utf8.contains(UInt8(ascii: "\r")) else { return }
        var again = MultipartWriter(boundary: boundary)
        for part in parts { again.add(part.fields.map { ($0.key, $0.value) }, part.body) }
        let second: [MultipartReader.Part]
        do throws(MultipartReader.Refusal) {
            second = try MultipartReader.parts(again.body[...], boundary: boundary)
        } catch {
            throw FuzzFinding("what was read is refused when it is written: \(error)")
        }
        try demand(second.count == parts.count, "\(parts.count) parts are \(second.count)")
        for (before, after) in zip(parts, second) {
            try demand(before.body.elementsEqual(after.body), "a body is another")
            try demand(before.fields == after.fields, "fields \(before.fields) are \(after.fields)")
        }
    }
}

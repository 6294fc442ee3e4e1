internal import SluiceCore

/// The ids of a story's records: their forms in applications and on the server, and the server's sort order.
struct SimulatedIDs: Sendable {
    private let areTwins: Bool
    /// Whether the server compares ids without case and writes them in capitals.
    let areCapitals: Bool
    private let areMixed: Bool

    init(_ traits: Set<ServerTrait>) {
        areTwins = traits.contains(.hasTwinIDs)
        areCapitals = traits.contains(.capitalIDs)
        areMixed = traits.contains(.sortsWithoutCase)
    }

    /// Returns the id of the record with that number, as applications write it.
    func id(_ number: Int) -> RecordID {
        switch number {
        case _ where areCapitals: .string(Self.stem + "0" + String(number % 16, radix: 16))
        case 4 where areTwins: "r\u{E9}"
        case 5 where areTwins: "re\u{301}"
        case _ where areMixed && number % 2 == 1: RecordID("R\(number)")
        default: RecordID("r\(number)")
        }
    }

    private static let stem = "a1b2c3d4-0000-4000-8000-0000000000"
    private static let capitals = stem.uppercased()

    /// Returns the id as the server writes it.
    func known(_ id: RecordID) -> RecordID { areCapitals ? .string(known(id.text)) : id }

    /// Returns a text with the ids in it as the server writes them.
    func known(_ text: String) -> String {
        guard areCapitals, text.utf8.count >= Self.stem.utf8.count + 2 else { return text }
        var bytes = Array(text.utf8)
        let stem = Array(Self.capitals.utf8)
        func isCapital(_ byte: UInt8, _ capital: UInt8) -> Bool {
            byte == capital || byte == capital | 0x20 && (0x41...0x5A).contains(capital)
        }
        for start in 0...bytes.count - stem.count - 2
        where zip(bytes[start...], stem).allSatisfy({ isCapital($0, $1) }) {
            for index in start..<start + stem.count + 2 where (0x61...0x66).contains(bytes[index]) {
                bytes[index] &-= 0x20
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Returns a record, or an engine record that names another, with the id as the server writes it.
    func known(_ record: JSON) -> JSON {
        guard areCapitals else { return record }
        var record = record
        for name in ["id", "record"] as [PropertyName] {
            if let text = record[name]?.string { record[name] = JSON(known(text)) }
        }
        if let operation = record["operation"], operation.kind == .object { record["operation"] = known(operation) }
        return record
    }

    /// Whether the server sorts the first id before the second.
    func areInOrder(_ left: RecordID, _ right: RecordID) -> Bool {
        guard areMixed else { return left < right }
        let (first, second) = (RecordID.string(left.text.lowercased()), RecordID.string(right.text.lowercased()))
        return first == second ? left < right : first < second
    }
}

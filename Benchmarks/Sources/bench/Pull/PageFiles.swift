internal import Glibc

/// Pages of rows as a server would send them, in files `0.json`, `1.json`, … They are the same in every run.
struct PageFiles {
    let directory: String
    let rows: Int
    static let rowsPerPage = 1000

    /// How many bytes a row has, on average.
    private(set) var bytesPerRow = 0

    /// Writes the files.
    init(directory: String, rows: Int) throws {
        self.directory = directory
        self.rows = rows
        var random = SplitMix64(state: 0x5EED)
        var bytes = 0
        for (number, first) in stride(from: 0, to: rows, by: Self.rowsPerPage).enumerated() {
            var page = "["
            for row in first..<min(first + Self.rowsPerPage, rows) {
                if row > first { page += "," }
                page += Self.row(row, &random)
            }
            page += "]"
            bytes += page.utf8.count
            try File.write(Array(page.utf8), to: "\(directory)/\(number).json")
        }
        bytesPerRow = bytes / max(rows, 1)
    }

    /// One row of eleven members: five of the system and six of the application, of every type that a column may have.
    private static func row(_ number: Int, _ random: inout SplitMix64) -> String {
        let title = (0..<3).map { _ in titleWords.randomElement(using: &random) ?? "" }.joined(separator: " ")
        let note = (0..<8).map { _ in noteWords.randomElement(using: &random) ?? "" }.joined(separator: " ")
        let cents = Int.random(in: 1...99, using: &random) + 100 * Int.random(in: 1...900, using: &random)
        let version = String(number + 4096, radix: 36, uppercase: true)
        return """
            {"id":"\(identifier(&random))","createdAt":"\(time(number / 2))","updatedAt":"\(time(number))",\
            "version":"\(String(repeating: "A", count: 11 - version.count))\(version)=","deleted":false,\
            "title":"\(title)","note":"\(note)","quantity":\(Int.random(in: -9...99_999, using: &random)),\
            "price":\(Double(cents) / 100),"active":\(Bool.random(using: &random)),\
            "due":"20\(Int.random(in: 10...29, using: &random))-0\(Int.random(in: 1...9, using: &random))-15"}
            """
    }

    /// A time of its own for each number, rising with it.
    private static func time(_ number: Int) -> String {
        func padded(_ value: Int, _ width: Int) -> String {
            let digits = String(value)
            return String(repeating: "0", count: max(0, width - digits.count)) + digits
        }
        let (day, rest) = (number / 86_400).quotientAndRemainder(dividingBy: 28)
        let second = number % 86_400
        let date = "20\(15 + day / 12)-\(padded(day % 12 + 1, 2))-\(padded(rest + 1, 2))"
        return "\(date)T\(padded(second / 3600, 2)):\(padded(second / 60 % 60, 2)):\(padded(second % 60, 2))"
            + ".\(padded(number % 1000, 3))Z"
    }

    /// A random UUID, as servers make them: new rows land anywhere in the index.
    private static func identifier(_ random: inout SplitMix64) -> String {
        func digits(_ value: UInt64, _ width: Int) -> String {
            let text = String(value, radix: 16)
            return String(repeating: "0", count: max(0, width - text.count)) + text
        }
        let (high, low) = (random.next(), random.next())
        return digits(high >> 32, 8) + "-" + digits(high >> 16 & 0xFFFF, 4) + "-4" + digits(high & 0xFFF, 3) + "-a"
            + digits(low >> 48 & 0xFFF, 3) + "-" + digits(low & 0xFFFF_FFFF_FFFF, 12)
    }

    /// Words as they stand in JSON: some with escapes, some beyond ASCII.
    private static let titleWords = [
        "Order", "Parcel", "Délai", "Pallet", "Rückgabe", "Crate", "Label", "Letter", "Sack", "Straße", "Drum", "箱",
    ]
    private static let noteWords = [
        "call", "before", "noon", "the", "door", #"\"left\""#, "fragile", "keep", "dry", "and", "upright", "with",
        "gate", "code", "of", "ring", "naïve", "twice", #"line\nbreak"#, "yard", "north", "depot", "caf\\u00e9",
        "shelf",
    ]
}

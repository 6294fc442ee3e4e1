internal import SluiceBase
internal import SluiceOData
internal import SluiceWire

/// The ids and values of a probe's own rows, as its scratch table takes them.
struct ScratchForm: Sendable {
    private enum Key: Sendable {
        /// Texts of at most that many characters.
        case text(longest: Int)
        case guid
        case number
        /// The service makes the key.
        case assigned
    }

    /// The columns by the kind of their values; nil where the table has none.
    var text: PropertyName?
    var integer: PropertyName?
    var real: PropertyName?
    var flag: PropertyName?
    var date: PropertyName?
    /// Whether the columns were only guessed, so that one may be missing.
    var isGuessed = false
    /// The values sent, by column.
    private(set) var values: JSON = .object
    private var required: JSON = .object
    private var key = Key.text(longest: 255)
    private let tag: String

    /// The beginning of every id of a probe, where the key is a text long enough.
    static let prefix = "sluice-probe-"
    private static let time = "2021-03-04T05:06:07.123Z"
    private static let words = " \u{e9} e\u{301} \u{1F600} 'q' \"d\" \\ & % < + end "

    /// - Parameter seed: a unique text, of which a part gets into the ids.
    private init(seed: String) {
        let digits = seed.lowercased().filter { $0.isHexDigit && $0.isASCII }
        tag = String(String(repeating: "0", count: 6) + digits).suffix(6).description
    }

    /// The form for a table of declared columns, else of the columns that rows show, else of usual names.
    init(columns: [TableSchema.Column], rows: [JSON], system: Set<PropertyName>, seed: String) {
        self.init(seed: seed)
        for column in columns { take(column.name, column.type) }
        if columns.isEmpty {
            for (name, value) in rows.first?.members ?? [] where !system.contains(name) {
                if let type = Self.type(of: value) { take(name, type) }
            }
        }
        if [text, integer, real, flag, date].allSatisfy({ $0 == nil }) {
            isGuessed = true
            (text, integer, real, flag, date) = ("text", "number", "amount", "flag", "at")
        }
        fill(integer: 9_007_199_254_740_993, real: 0.1, longest: .max)
    }

    /// The form for an entity set; nil for one whose rows a probe cannot name.
    init?(_ set: EntitySet, _ type: EdmModel.Structure, seed: String) {
        self.init(seed: seed)
        let properties = type.properties.filter {
            !Self.isTheServers($0.name) && !set.notCreatable.contains($0.name) && !set.notUpdatable.contains($0.name)
        }
        if set.assignsKey {
            key = .assigned
        } else if let single = set.singleKey {
            let longest = type.properties.first { $0.name == single.name }?.maxLength ?? 255
            switch single.type {
            case .string where longest >= 8: key = .text(longest: longest)
            case .guid: key = .guid
            case .int32, .int64: key = .number
            default: return nil
            }
        } else {
            return nil
        }
        let free = properties.filter { property in !set.key.contains { $0.name == property.name } }
        func first(_ types: [EdmPrimitive]) -> EdmModel.Property? {
            types.lazy.compactMap { wanted in
                free.first { set.types[$0.name] == wanted && $0.name != set.updatedAt }
            }.first
        }
        let texts = free.filter { set.types[$0.name] == .string }
        let words = texts.max { ($0.maxLength ?? .max) < ($1.maxLength ?? .max) }
        let (whole, fine) = (first([.int64, .int32]), first([.double, .decimal]))
        (text, integer, real) = (words?.name, whole?.name, fine?.name)
        (flag, date) = (first([.boolean])?.name, first([.dateTimeOffset, .dateTime])?.name)
        let isWide = whole.map { set.types[$0.name] == .int64 } ?? false
        let hasFraction = fine.map { set.types[$0.name] == .double || ($0.scale ?? 0) > 0 } ?? false
        fill(
            integer: isWide ? 9_007_199_254_740_993 : 2_000_000_011, real: hasFraction ? 0.5 : 7,
            longest: words?.maxLength ?? .max)
        for property in free where !property.isNullable && values[property.name] == nil {
            if let type = set.types[property.name] { required[property.name] = Self.plain(type) }
        }
    }

    /// Whether the service makes the ids.
    var assignsIDs: Bool { if case .assigned = key { true } else { false } }
    /// Whether ids are texts of any letters.
    var hasTextIDs: Bool { if case .text = key { true } else { false } }

    /// Returns the id of the row of that letter, from `a` on; nil where the service makes it.
    func id(_ letter: Unicode.Scalar) -> RecordID? {
        let number = Int64(letter.value) - 0x60
        switch key {
        case .text(let longest):
            let long = "\(Self.prefix)\(tag)-\(letter)"
            return .string(
                long.utf8.count <= longest ? long : "SLP\(tag)".prefix(longest - 1) + "\(letter)".uppercased())
        case .guid: return .string("51d1ce00-0000-4000-8000-\(tag)0000\(number < 10 ? "0" : "")\(number)")
        case .number: return .string(String(1_900_000_000 + (Int64(tag, radix: 16) ?? 0) % 1_000_000 * 64 + number))
        case .assigned: return nil
        }
    }

    /// Returns the record of that letter, with the text in place of the usual one.
    func record(_ letter: Unicode.Scalar, id column: PropertyName, text words: String? = nil) -> JSON {
        var record = values
        for (name, value) in required.members ?? [] { record[name] = value }
        if let text, let words { record[text] = JSON(words) }
        if let id = id(letter) { record[column] = JSON(id) }
        return record
    }

    private mutating func take(_ name: PropertyName, _ type: TableSchema.ColumnType) {
        switch type {
        case .string: text = text ?? name
        case .integer: integer = integer ?? name
        case .real: real = real ?? name
        case .boolean: flag = flag ?? name
        case .date: date = date ?? name
        case .json: break
        }
    }

    private mutating func fill(integer number: Int64, real fraction: Double, longest: Int) {
        if let text {
            values[text] = JSON(longest < Self.words.count ? String("\u{e9}\u{1F600}'x".prefix(longest)) : Self.words)
        }
        if let integer { values[integer] = JSON(number) }
        if let real { values[real] = JSON(fraction) }
        if let flag { values[flag] = true }
        if let date { values[date] = JSON(Self.time) }
    }

    /// Whether the name is one of those that services give to properties which they set by themselves.
    private static func isTheServers(_ name: PropertyName) -> Bool {
        ["creat", "chang", "modif", "updat"].contains { name.text.lowercased().contains($0) }
    }

    private static func type(of value: JSON) -> TableSchema.ColumnType? {
        if let text = value.string { return text.contains("T") && Timestamp(text) != nil ? .date : .string }
        if value.bool != nil { return .boolean }
        guard let number = value.number else { return nil }
        return number.int == nil ? .real : .integer
    }

    /// A value of the type for a property that may not be null.
    private static func plain(_ type: EdmPrimitive) -> JSON {
        switch type {
        case .boolean: false
        case .byte, .sbyte, .int16, .int32, .int64, .single, .double, .decimal: 1
        case .dateTime, .dateTimeOffset: JSON(time)
        case .date: "2021-03-04"
        case .guid: "51d1ce00-0000-4000-8000-000000000000"
        default: ""
        }
    }
}

internal import ArgumentParser

/// Reads CSV by RFC 4180, strictly and line by line: nothing is repaired and nothing is guessed.
///
/// ```swift
/// var parser = CSVParser()
/// try parser.take(Array("id,title".utf8))        // two fields
/// try parser.take(Array(#"id-1,"The first"#.utf8))  // nil: the quoted field goes on
/// try parser.take(Array(#"line"""#.utf8))        // two fields, the second with a line break
/// try parser.finish()
/// ```
///
/// It holds only the current record. A record ends with LF or CRLF. An empty line is skipped. A separator other than
/// the comma has to be given.
struct CSVParser {
    /// A field of a record.
    struct Field: Hashable {
        var text: String
        /// Whether it was in quotes: only then an empty field is a text.
        var isQuoted = false
    }

    /// The reason why the text is no CSV, with its line.
    struct Problem: Error, Hashable {
        /// The line's number, from 1.
        var line: Int
        var reason: String
    }

    private enum State { case start, plain, quoted, closed }

    private static let quote = UInt8(ascii: "\"")
    private static let lineFeed = UInt8(ascii: "\n")
    private static let carriageReturn = UInt8(ascii: "\r")

    /// The byte between two fields.
    let separator: UInt8
    /// The largest size of a record in bytes, over all its lines.
    let longest: Int
    /// The largest number of fields of a record.
    let mostFields: Int
    /// The first line of the latest record, counted from 1.
    private(set) var recordLine = 1
    private var line = 0
    private var size = 0
    private var fields: [Field] = []
    private var text: [UInt8] = []
    private var place = State.start

    init(separator: UInt8 = UInt8(ascii: ","), longest: Int = 16 << 20, mostFields: Int = 1000) {
        self.separator = separator
        self.longest = longest
        self.mostFields = mostFields
    }

    /// Reads the next line.
    ///
    /// - Parameter bytes: the line without its LF; a CR may still be at its end.
    /// - Returns: the fields of the record that ends with the line; nil if none does.
    mutating func take(_ bytes: [UInt8]) throws(Problem) -> [Field]? {
        line += 1
        if place == .quoted {
            text.append(Self.lineFeed)
        } else {
            recordLine = line
            size = 0
        }
        size += bytes.count + 1
        guard size <= longest else {
            throw Problem(
                line: recordLine, reason: "the record is longer than \(longest) bytes: is a quote not closed?")
        }
        for (index, byte) in bytes.enumerated() {
            try take(byte, isLast: index == bytes.count - 1)
        }
        let isEmpty = fields.isEmpty && place == .start
        if place == .quoted || isEmpty { return nil }
        try endField()
        defer { fields = [] }
        return fields
    }

    /// Ends the text after its last line.
    func finish() throws(Problem) {
        guard place != .quoted else { throw Problem(line: recordLine, reason: "a quote is opened and never closed") }
    }

    private mutating func take(_ byte: UInt8, isLast: Bool) throws(Problem) {
        switch (place, byte) {
        case (_, 0): throw problem("there is a NUL byte")
        case (.quoted, Self.quote): place = .closed
        case (.quoted, _): text.append(byte)
        case (.closed, Self.quote):
            text.append(byte)
            place = .quoted
        case (.start, Self.quote): place = .quoted
        case (_, separator): try endField()
        case (_, Self.carriageReturn):
            guard isLast else { throw problem("there is a carriage return outside of quotes") }
        case (.closed, _): throw problem("a field goes on after its closing quote")
        case (_, Self.quote): throw problem("there is a quote inside a field that does not begin with one")
        default:
            text.append(byte)
            place = .plain
        }
    }

    private mutating func endField() throws(Problem) {
        guard fields.count < mostFields else { throw problem("the record has more than \(mostFields) fields") }
        guard let field = String(validating: text, as: UTF8.self) else { throw problem("the text is not UTF-8") }
        fields.append(Field(text: field, isQuoted: place == .closed))
        text.removeAll(keepingCapacity: true)
        place = .start
    }

    private func problem(_ reason: String) -> Problem { Problem(line: line, reason: reason) }
}

/// The character between the fields of a CSV file.
struct CSVSeparator: ExpressibleByArgument, Hashable {
    static let comma = CSVSeparator(byte: UInt8(ascii: ","))
    private static let tab = CSVSeparator(byte: UInt8(ascii: "\t"))
    /// Separators that programs use instead of a comma, if numbers contain one.
    private static let usual = [CSVSeparator(byte: UInt8(ascii: ";")), tab, CSVSeparator(byte: UInt8(ascii: "|"))]

    let byte: UInt8

    private init(byte: UInt8) { self.byte = byte }

    /// Reads a character of ASCII that is no letter, digit or quote; or the argument `tab`.
    init?(argument: String) {
        if argument == "tab" {
            self = .tab
            return
        }
        guard let character = argument.unicodeScalars.first, argument.unicodeScalars.count == 1, character.isASCII,
            character == "\t" || (character.value > 0x20 && character.value != 0x7F), character != "\"",
            !character.properties.isAlphabetic, character.properties.numericType == nil
        else { return nil }
        self.init(byte: UInt8(character.value))
    }

    /// Returns the first of the other usual separators in the text.
    static func other(in text: String) -> CSVSeparator? { usual.first { text.utf8.contains($0.byte) } }

    /// The name in messages.
    var name: String { self == .tab ? "a tab" : "\"\(Unicode.Scalar(byte))\"" }
    /// The form for a shell.
    var argument: String { self == .tab ? "tab" : "'\(Unicode.Scalar(byte))'" }
}

internal import ArgumentParser

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

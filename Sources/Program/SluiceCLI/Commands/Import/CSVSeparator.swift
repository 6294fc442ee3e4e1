internal import ArgumentParser

/// The character between the fields of a CSV file.
struct CSVSeparator: ExpressibleByArgument, Hashable {
    static let comma = CSVSeparator(byte: UInt8(ascii: ","))
    private static let tab = CSVSeparator(byte: UInt8(ascii: "\t"))
    /// What programs write in the place of a comma, where one is in numbers.
    private static let usual = [CSVSeparator(byte: UInt8(ascii: ";")), tab, CSVSeparator(byte: UInt8(ascii: "|"))]

    let byte: UInt8

    private init(byte: UInt8) { self.byte = byte }

    /// A character of ASCII that is no letter, digit or quote; or the word tab.
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

    /// The first of the usual others that is in the text.
    static func other(in text: String) -> CSVSeparator? { usual.first { text.utf8.contains($0.byte) } }

    /// What a message calls it.
    var name: String { self == .tab ? "a tab" : "\"\(Unicode.Scalar(byte))\"" }
    /// How a shell takes it.
    var argument: String { self == .tab ? "tab" : "'\(Unicode.Scalar(byte))'" }
}

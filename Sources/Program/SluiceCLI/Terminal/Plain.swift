internal import Sluice
internal import SluiceConfiguration

/// Text from servers and files, made safe to show.
enum Plain {
    /// The text as one line: control characters, which could move a terminal's cursor, become spaces.
    static func line(_ text: String) -> String { PlainText.line(text) }

    /// The number with its thousands apart: `12,345`.
    static func count(_ number: Int) -> String { number.grouped }

    /// The number and its noun: `1 row`, `2 rows`.
    static func count(_ number: Int, _ noun: String, _ plural: String? = nil) -> String { number.counted(noun, plural) }
}

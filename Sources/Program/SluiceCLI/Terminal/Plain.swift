internal import Sluice
internal import SluiceConfiguration

/// Makes text from servers and files safe to show.
enum Plain {
    /// Returns the text as one line: control characters, which could move a terminal's cursor, become spaces.
    static func line(_ text: String) -> String { PlainText.line(text) }

    /// Returns the number with grouped thousands: `12,345`.
    static func count(_ number: Int) -> String { number.grouped }

    /// Returns the number and its noun: `1 row`, `2 rows`.
    static func count(_ number: Int, _ noun: String, _ plural: String? = nil) -> String { number.counted(noun, plural) }
}

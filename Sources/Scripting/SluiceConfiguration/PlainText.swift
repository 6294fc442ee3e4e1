/// Text from servers and files, made safe to show.
package enum PlainText {
    /// Returns the text as one line. Control characters become spaces: they could move a terminal's cursor.
    package static func line(_ text: String) -> String {
        String(
            String.UnicodeScalarView(
                text.unicodeScalars.map { scalar in
                    let isControl = scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value)
                    return isControl || scalar == "\u{2028}" || scalar == "\u{2029}" ? " " : scalar
                }))
    }
}

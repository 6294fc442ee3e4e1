/// A value as the language of its document has it: JSON or YAML. ``StrictValue`` reads it.
package protocol StrictSource {
    /// The length of the longest text, in bytes, if the reader gives no other.
    static var longestText: Int { get }

    /// The value as a text; nil if it is none.
    var text: String? { get }
    /// The value as a whole number; nil if it is none.
    var integer: Int? { get }
    /// The value as true or false; nil if it is neither.
    var flag: Bool? { get }
    /// The elements of a list; nil if the value is none.
    var elements: [Self]? { get }
    /// The members of an object, in order, each with the place of its name; nil if the value is none. The name is nil
    /// if it is no text.
    var entries: [(name: String?, key: Self, value: Self)]? { get }

    /// Returns the place of the value, as refusals begin. `characters` is the number of characters of its text before
    /// the mistake, if known.
    func location(after characters: Int?) -> String
    /// Returns the reason of a refusal with the expected value.
    func mismatch(_ expectation: String, of name: String) -> String
    /// Returns the reason of a refusal of a value that is none of the allowed texts.
    func wrongChoice(of allowed: [String], for name: String) -> String
    /// Returns the language's word for an object with known names, or with names of the author's choice.
    static func object(of known: [String]?) -> String
    /// Returns the reason of a refusal of an unknown name.
    static func unknown(_ key: String, in name: String) -> String
}

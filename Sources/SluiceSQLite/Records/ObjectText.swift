/// An object's text as the store has written it, read without making documents of it.
enum ObjectText {
    /// The members of an object in a text that the store has written: the names with their quotes, and the values.
    static func forEachMember(
        _ text: UnsafeBufferPointer<UInt8>,
        _ body: (_ name: UnsafeBufferPointer<UInt8>.SubSequence, _ value: UnsafeBufferPointer<UInt8>.SubSequence) ->
            Void
    ) {
        var (index, depth) = (0, 0)
        var name: UnsafeBufferPointer<UInt8>.SubSequence?
        while index < text.count {
            switch text[index] {
            case UInt8(ascii: "\""):
                var end = index + 1
                while end < text.count, text[end] != UInt8(ascii: "\"") {
                    end += text[end] == UInt8(ascii: "\\") ? 2 : 1
                }
                guard end < text.count else { return }
                if depth == 1, name == nil { name = text[index...end] }
                index = end
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "]"): depth -= 1
            case UInt8(ascii: "}") where depth > 1: depth -= 1
            case UInt8(ascii: ","), UInt8(ascii: "}"):
                guard depth == 1, let ended = name, ended.endIndex < index else { break }
                body(ended, text[(ended.endIndex + 1)..<index])
                name = nil
            default: break
            }
            index += 1
        }
    }
}

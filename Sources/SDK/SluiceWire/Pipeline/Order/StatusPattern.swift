/// A status, or all of one class: `412`, `5xx`.
struct StatusPattern: Sendable, Hashable {
    let text: String
    private let range: ClosedRange<Int>

    /// The pattern; nil if the text is not one.
    init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count == 3, (UInt8(ascii: "1")...UInt8(ascii: "5")).contains(bytes[0]) else { return nil }
        if let code = Int(text), text.allSatisfy({ $0.isNumber }) {
            range = code...code
        } else if bytes[1] == UInt8(ascii: "x"), bytes[2] == UInt8(ascii: "x") {
            let first = Int(bytes[0] - UInt8(ascii: "0")) * 100
            range = first...first + 99
        } else {
            return nil
        }
        self.text = text
    }

    func matches(_ code: Int) -> Bool { range.contains(code) }
}

import Foundation
import HTTPTypes
import SluiceCore

@testable import SluiceBackend

/// Looks for another's data in what a user is answered.
struct LeakWatch {
    /// The forms in which a mark is looked for: as it is in any case, in hexadecimal digits, and within base64.
    private struct Mark {
        let plain: [String]
        let base64: [String]

        init(_ text: String) {
            plain = [text, text.utf8.map { String($0, radix: 16) }.joined(), String(text.reversed())]
            base64 = (0..<3).map { offset in
                let bytes = [UInt8](repeating: 0, count: offset) + Array(text.utf8)
                let encoded = Data(bytes).base64EncodedString().prefix { $0 != "=" }
                // Without what the neighbours have a part in.
                let whole = encoded.dropFirst((offset * 8 + 5) / 6)
                return String(whole.dropLast(bytes.count % 3 == 0 ? 0 : 1))
            }
        }
    }

    private let marks: [LeakUser: Mark]
    /// The versions that each user's own records have had.
    private var versions: [LeakUser: Set<Substring>] = [:]

    init(_ marks: LeakMarks) {
        self.marks = Dictionary(uniqueKeysWithValues: LeakUser.allCases.map { ($0, Mark(marks.mark($0))) })
    }

    /// Remembers what an answer says is the user's own.
    mutating func learn(_ answer: Answer, to user: LeakUser) {
        guard let tag = answer.etag else { return }
        for piece in Self.pieces(tag) { versions[user, default: []].insert(piece) }
    }

    /// What is another's in an answer to that user; nil where there is nothing. What the request says itself is no leak.
    func finding(in answer: String, to user: LeakUser, asking request: String) -> String? {
        let folded = answer.lowercased()
        for (owner, mark) in marks where owner != user {
            for text in mark.plain where folded.contains(text) && !request.contains(text) {
                return "\(owner)'s \(text)"
            }
            for text in mark.base64 where answer.contains(text) && !request.contains(text) {
                return "\(owner)'s mark in base64"
            }
            let name = LeakMarks.name(owner)
            if folded.contains(name), !request.contains(name) { return "\(owner)'s name" }
        }
        let asked = Set(Self.pieces(request))
        for piece in Self.pieces(answer) where !asked.contains(piece) {
            for (owner, known) in versions where owner != user && known.contains(piece) {
                return "\(owner)'s version \(piece)"
            }
        }
        return nil
    }

    /// What may be a version: 16 characters of base64.
    private static func pieces(_ text: String) -> [Substring] {
        text.split { !($0.isASCII && ($0.isLetter || $0.isNumber || $0 == "+" || $0 == "/")) }.filter {
            $0.utf8.count == 16
        }
    }
}

extension Answer {
    /// All of it: status, header fields and body.
    var whole: String {
        let fields = response.head.headerFields.map { "\($0.name.canonicalName): \($0.value)" }.sorted()
        return "\(status)\n\(fields.joined(separator: "\n"))\n\n\(String(decoding: response.body.bytes, as: UTF8.self))"
    }
}

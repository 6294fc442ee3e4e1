import Foundation
import Testing

@testable import SluiceBase

@Suite("Secrets in texts")
struct SecretSearchTests {
    private func hidden(_ secrets: String..., in text: String, pieces: Bool = false) -> String {
        let forms = secrets.flatMap {
            SecretForm.all(of: Array($0.utf8), hidesPieces: pieces, shortestDigits: 4)
        }
        return SecretSearch(forms).hiding(text) ?? text
    }

    @Test("a secret with escapes of its own is found as it is, and encoded once more")
    func escapes() {
        let secrets = ["a%2Fb%41c", #"a\nb"c\d"#, "a&amp;b&#x41;", "key%", #"key\"#, "a b+c%20d"]
        for secret in secrets {
            let json = JSON(secret).description.dropFirst().dropLast()
            let percent = secret.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
            for text in [secret, String(json), percent, percent.lowercased(), percent.replacing("%20", with: "+")] {
                #expect(hidden(secret, in: "<\(text)41>") == "<(hidden)41>", "\(secret) as \(text)")
            }
        }
    }

    @Test("secrets that overlap or follow each other are hidden, the later one too")
    func overlap() {
        #expect(hidden("abcdef", "defghi", in: "-abcdefghi-") == "-(hidden)-")
        #expect(hidden("abcdef", in: "-abcdefABCDEF-") == "-(hidden)(hidden)-")
        // Up to four digits after an encoded secret belong to it, and may be the beginning of another one.
        #expect(hidden("s3cr3t", in: "-\(Base16.text(Array("s3cr3t".utf8)))s3cr3t-") == "-(hidden)-")
    }

    @Test("pieces are hidden where they are asked for")
    func pieces() {
        let secret = "0123456789abcdefghijklmnopqrstuvwxyz"
        let piece = String(secret.dropFirst(7).prefix(24))
        #expect(hidden(secret, in: "<\(piece)>", pieces: true) == "<7(hidden)>")
        #expect(hidden(secret, in: "<\(piece)>") == "<\(piece)>")
    }

    @Test("a text without a secret stays as it is")
    func others() {
        #expect(SecretSearch([]).hiding("text") == nil)
        for text in ["", "k", "ke", "key%", "%6B", "&", "the keys"] { #expect(hidden("key%7", in: text) == text) }
    }
}

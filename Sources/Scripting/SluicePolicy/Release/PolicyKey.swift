internal import Crypto
internal import Foundation
package import SluiceCore

/// A key that verifies the signatures of releases (Ed25519, RFC 8032). There is no other algorithm, so a file cannot
/// choose one.
package struct PolicyKey: Sendable, Hashable {
    private static let word = "sluice-policy-key"

    /// The key's 32 bytes.
    package let bytes: [UInt8]

    /// The name of the key in files and messages: the first 16 digits of its SHA-256.
    package var id: String { String(Base16.text(Array(SHA256.hash(data: bytes))).prefix(16)) }

    /// The line of a key's file.
    package var text: String { "\(Self.word) \(Base64.text(bytes))" }

    fileprivate init(bytes: [UInt8]) { self.bytes = bytes }

    /// Reads a key's file, with the times after its line in which it counts.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` that names the file; the message never contains the line.
    static func entry(file path: String) throws(SluiceError) -> (PolicyKey, from: Timestamp?, until: Timestamp?) {
        let parts = try KeyLine.read(path).split(whereSeparator: \.isWhitespace)
        guard let bytes = KeyLine.bytes(parts.prefix(2), Self.word),
            (try? Curve25519.Signing.PublicKey(rawRepresentation: bytes)) != nil
        else {
            throw SluiceError(.invalidArgument, "\(path): expected a line \"\(Self.word)\" and 32 bytes in base64")
        }
        var times: [Substring: Timestamp] = [:]
        for part in parts.dropFirst(2) {
            let pair = part.split(separator: "=", maxSplits: 1)
            guard pair.count == 2, ["from", "until"].contains(pair[0]), let time = Timestamp(String(pair[1])) else {
                throw SluiceError(.invalidArgument, "\(path): expected from=TIME or until=TIME after the key")
            }
            times[pair[0]] = time
        }
        return (PolicyKey(bytes: bytes), times["from"], times["until"])
    }

    /// Whether the signature of those bytes is by this key.
    package func hasSigned(_ bytes: [UInt8], _ signature: [UInt8]) -> Bool {
        guard let key = try? Curve25519.Signing.PublicKey(rawRepresentation: self.bytes) else { return false }
        return key.isValidSignature(signature, for: bytes)
    }
}

/// The secret half of a key, which signs releases.
package struct PolicySigner: Sendable {
    private static let word = "sluice-policy-signer"

    private let secret: [UInt8]
    /// The half that devices get.
    package let key: PolicyKey

    /// Creates a key by chance.
    package init() {
        let key = Curve25519.Signing.PrivateKey()
        (secret, self.key) = (Array(key.rawRepresentation), PolicyKey(bytes: Array(key.publicKey.rawRepresentation)))
    }

    /// Reads a key's file, which only its owner should be able to read.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument`; the message never contains the key.
    package init(file path: String) throws(SluiceError) {
        let parts = try KeyLine.read(path).split(whereSeparator: \.isWhitespace)
        guard parts.count == 2, let secret = KeyLine.bytes(parts[...], Self.word),
            let key = try? Curve25519.Signing.PrivateKey(rawRepresentation: secret)
        else { throw SluiceError(.invalidArgument, "\(path): expected a line \"\(Self.word)\" and 32 bytes in base64") }
        (self.secret, self.key) = (secret, PolicyKey(bytes: Array(key.publicKey.rawRepresentation)))
    }

    /// The line of the secret file.
    package var text: String { "\(Self.word) \(Base64.text(secret))" }

    /// Returns the signature of those bytes.
    ///
    /// - Throws: the library's error for a key that it cannot use.
    package func signature(of bytes: [UInt8]) throws -> [UInt8] {
        Array(try Curve25519.Signing.PrivateKey(rawRepresentation: secret).signature(for: bytes))
    }
}

/// The one line of a key's file.
private enum KeyLine {
    static func bytes(_ parts: ArraySlice<Substring>, _ word: String) -> [UInt8]? {
        guard parts.count == 2, parts.first.map({ $0 == word }) == true, let last = parts.last,
            let bytes = Base64.bytes(last), bytes.count == 32
        else {
            return nil
        }
        return bytes
    }

    static func read(_ path: String) throws(SluiceError) -> String {
        do throws(SystemFailure) {
            let bytes = try OpenFile(path, .filesOnly).read(upTo: 4_096)
            return String(decoding: bytes, as: UTF8.self)
        } catch {
            throw SluiceError(.invalidArgument, "\(path): the key cannot be read: \(error.reason)")
        }
    }
}

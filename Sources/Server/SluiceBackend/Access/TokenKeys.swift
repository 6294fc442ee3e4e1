internal import Foundation
internal import JWTKit
internal import SluiceCore

/// The keys for the signatures of tokens. Each key is for one algorithm, so that a token cannot have a public key used
/// as a secret.
struct TokenKeys: Sendable {
    /// A key with its only algorithm.
    struct Key: Sendable {
        let algorithm: String
        /// The key's name (`kid`); nil for a key without a name, for tokens without one.
        let id: [UInt8]?
        let verifier: any JWTAlgorithm
    }

    /// The most bytes of a file, and keys in it.
    static let (mostBytes, mostKeys) = (1 << 20, 100)

    /// The secret of HS256, for tokens with any `kid` or none.
    var secret: (any JWTAlgorithm)?
    /// The public keys.
    var keys: [Key] = []

    /// The names of the algorithms with a key.
    var algorithms: [String] {
        let named = ["RS256", "ES256"].filter { name in keys.contains { $0.algorithm == name } }
        return (secret == nil ? [] : ["HS256"]) + named
    }

    /// Returns the key for a token with that header.
    func verifier(algorithm: String, id: String?) -> (any JWTAlgorithm)? {
        if algorithm == "HS256" { return secret }
        let fitting = keys.filter { $0.algorithm == algorithm }
        if let id { return fitting.first { $0.id == Array(id.utf8) }?.verifier }
        // A token without a `kid` uses the only key, if there is just one.
        return fitting.count == 1 ? fitting[0].verifier : nil
    }

    /// Reads a JWK set (RFC 7517, section 5): its RSA keys are for RS256, those on the curve P-256 for ES256. Other
    /// keys are skipped, as the standard requires.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument`, without the text.
    static func keys(jwks bytes: [UInt8]) async throws(SluiceError) -> [Key] {
        guard let document = try? JSON(parsing: bytes), let entries = document["keys"]?.elements else {
            throw mistake("it is no JWK set: a JSON object with an array, keys")
        }
        guard entries.count <= mostKeys else { throw mistake("it has more than \(mostKeys) keys") }
        var keys: [Key] = []
        for (index, entry) in entries.enumerated() {
            let place = "key \(index)" + (entry["kid"]?.string.map { " (\($0))" } ?? "")
            if entry["d"] != nil || entry["k"] != nil {
                throw mistake("\(place) is secret; the file has the public keys only")
            }
            guard entry["use"] == nil || entry["use"]?.string == "sig" else { continue }
            let algorithm = entry["alg"]
            let id = entry["kid"]?.string.map { Array($0.utf8) }
            let key: Key
            do {
                switch (entry["kty"]?.string, entry["crv"]?.string) {
                case ("RSA", _) where algorithm == nil || algorithm?.string == "RS256":
                    let publicKey = try Insecure.RSA.PublicKey(
                        modulus: entry["n"]?.string ?? "", exponent: entry["e"]?.string ?? "")
                    let collection = await JWTKeyCollection().add(rsa: publicKey, digestAlgorithm: .sha256)
                    key = Key(algorithm: "RS256", id: id, verifier: try await collection.getKey())
                case ("EC", "P-256") where algorithm == nil || algorithm?.string == "ES256":
                    let publicKey = try ES256PublicKey(
                        parameters: (entry["x"]?.string ?? "", entry["y"]?.string ?? ""))
                    let collection = await JWTKeyCollection().add(ecdsa: publicKey)
                    key = Key(algorithm: "ES256", id: id, verifier: try await collection.getKey())
                default: continue
                }
            } catch {
                throw mistake("\(place) is no key: an RSA key has n and e and 2048 bits or more, one of P-256 x and y")
            }
            guard !keys.contains(where: { $0.algorithm == key.algorithm && $0.id == key.id }) else {
                throw mistake("\(place) has the kid of another key for \(key.algorithm)")
            }
            keys.append(key)
        }
        guard !keys.isEmpty else { throw mistake("it has no key for RS256 or ES256") }
        return keys
    }

    private static func mistake(_ reason: String) -> SluiceError { SluiceError(.invalidArgument, reason) }
}

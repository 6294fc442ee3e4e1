internal import SluiceCore

/// A release with its signatures, as one file: an envelope as DSSE 1.0 describes it, with Ed25519 alone. Nothing outside
/// of the signed bytes has a meaning, except which key each signature claims to be by.
package struct SignedRelease: Sendable {
    /// The largest file.
    package static let maximumBytes = 16 << 20
    private static let type = "application/vnd.sluice.policy+json"
    private static let mostSignatures = 16

    /// The content that is signed.
    let payload: [UInt8]
    /// The signatures, each with the id of its key.
    package private(set) var signatures: [(key: String, bytes: [UInt8])]

    /// Creates a file without a signature.
    package init(_ release: PolicyRelease) { (payload, signatures) = (release.bytes, []) }

    /// Reads a file, and verifies nothing.
    package init(bytes: [UInt8]) throws(PolicyRefusal) {
        guard bytes.count <= Self.maximumBytes else {
            throw PolicyRefusal(.tooLarge, "the release is larger than \(Self.maximumBytes) bytes")
        }
        guard let json = try? JSON(parsing: bytes), json.kind == .object else {
            throw PolicyRefusal(.notWhole, "the file is no release, or a part of one")
        }
        guard json["payloadType"]?.string == Self.type else {
            throw PolicyRefusal(.notWhole, "the file is no release of a policy")
        }
        guard json.members?.count == 3, let payload = json["payload"]?.string.flatMap({ Base64.bytes($0) }),
            let list = json["signatures"]?.elements, list.count <= Self.mostSignatures
        else { throw PolicyRefusal(.notWhole, "the file is no whole release") }
        self.payload = payload
        signatures = []
        for one in list {
            guard let key = one["keyid"]?.string, key.utf8.count <= 64,
                let bytes = one["sig"]?.string.flatMap({ Base64.bytes($0) })
            else { throw PolicyRefusal(.notWhole, "a signature of the file is none") }
            signatures.append((key, bytes))
        }
    }

    /// The bytes that are signed: the type and the payload, each with its length, so that neither can be taken for a part
    /// of the other.
    private var signed: [UInt8] {
        Array("DSSEv1 \(Self.type.utf8.count) \(Self.type) \(payload.count) ".utf8) + payload
    }

    /// Adds a signature; one by the same key is replaced.
    package mutating func sign(_ signer: PolicySigner) throws {
        let signature = try signer.signature(of: signed)
        signatures.removeAll { $0.key == signer.key.id }
        signatures.append((signer.key.id, signature))
        signatures.sort { $0.key < $1.key }
    }

    /// Returns the trusted keys that have signed, each once.
    ///
    /// - Throws: ``PolicyRefusal`` if there is no signature, or one that names a trusted key is not by it.
    func signers(among trusted: [PolicyKey]) throws(PolicyRefusal) -> Set<PolicyKey> {
        if signatures.isEmpty { throw PolicyRefusal(.unsigned, "the release has no signature") }
        var signers: Set<PolicyKey> = []
        for key in trusted {
            for signature in signatures where signature.key == key.id {
                guard key.hasSigned(signed, signature.bytes) else {
                    throw PolicyRefusal(.forged, "the signature of the key \(key.id) does not fit the release")
                }
                signers.insert(key)
            }
        }
        return signers
    }

    /// Returns the content, without a look at the signatures.
    package func unverified() throws(PolicyRefusal) -> PolicyRelease { try PolicyRelease(bytes: payload) }

    /// The file's bytes; the same for the same release and signatures.
    package var bytes: [UInt8] {
        let list = signatures.map { one -> JSON in ["keyid": JSON(one.key), "sig": JSON(Base64.text(one.bytes))] }
        let json: JSON = [
            "payloadType": JSON(Self.type), "payload": JSON(Base64.text(payload)), "signatures": JSON(list),
        ]
        return json.bytes() + [UInt8(ascii: "\n")]
    }
}

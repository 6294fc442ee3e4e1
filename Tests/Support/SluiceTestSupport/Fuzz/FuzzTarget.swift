/// A reader of foreign text, with what must hold for every input: the fuzzers of Tests/Programs/Fuzzing look for
/// inputs for which it does not, and a test holds it for those that were kept.
package enum FuzzTarget: String, Sendable, CaseIterable {
    /// OData's `$filter`, `$orderby` and `$select`.
    case odata
    /// JSON documents and pages of rows.
    case json
    /// Addresses, links, entity tags, dates and encodings.
    case wire
    /// Bodies of batches.
    case multipart
    /// What an OData service says of its data.
    case metadata
    /// Addresses of rows of OData services, and their links.
    case address

    /// Checks the input.
    ///
    /// - Throws: ``FuzzFinding``. What traps ends the program.
    package func check(_ input: [UInt8]) throws(FuzzFinding) {
        switch self {
        case .odata: try ODataFuzz.check(input)
        case .json: try JSONFuzz.check(input)
        case .wire: try WireFuzz.check(input)
        case .multipart: try MultipartFuzz.check(input)
        case .metadata: try MetadataFuzz.check(input)
        case .address: try ServiceAddressFuzz.check(input)
        }
    }

    /// Checks the input, and ends the program if something does not hold.
    package func mustHold(for input: UnsafeBufferPointer<UInt8>) {
        do {
            try check(Array(input))
        } catch {
            fatalError("\(rawValue): \(error.message)")
        }
    }
}

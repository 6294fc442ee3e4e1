internal import SluiceCore
internal import SluiceOData

/// What must hold for any text as the address of a row, and as a link of a service.
enum ServiceAddressFuzz {
    private static let sets: [EntitySet] = [
        [("K", EdmPrimitive.string)], [("K", .int64)], [("K", .guid)], [("K", .dateTimeOffset)], [("K", .decimal)],
        [("A", .string), ("B", .int32)], [("A", .boolean), ("B", .string), ("C", .dateTime)],
    ].compactMap { key in try? EntitySet("S", key: key.map { .init(PropertyName($0.0), $0.1) }) }

    static func check(_ input: [UInt8]) throws(FuzzFinding) {
        let text = String(decoding: input, as: UTF8.self)
        for set in sets {
            for key in [
                EntityKey(address: text, in: set), EntityKey(predicate: text, in: set),
                EntityKey(id: .string(text), in: set),
            ].compactMap(\.self) {
                try check(key, set)
            }
        }
        for endpoint in ["https://h.example/app?k=v", "http://127.0.0.1:8080"].compactMap({ try? Endpoint($0) }) {
            try checkLink(text, endpoint)
        }
    }

    /// A key's predicate is that key's again, and so is its id.
    private static func check(_ key: EntityKey, _ set: EntitySet) throws(FuzzFinding) {
        for version in ODataVersion.allCases {
            let predicate = key.predicate(in: set, version: version)
            let again = EntityKey(predicate: predicate, in: set)
            try demand(
                again?.predicate(in: set, version: version).isExactly(predicate) ?? false,
                "\(predicate) is read as \(again?.values ?? [])")
            let encoded = PercentEncoding.query("S(\(predicate))", keeping: "$'(),=")
            let addressed = EntityKey(address: encoded, in: set)
            try demand(
                addressed?.predicate(in: set, version: version).isExactly(predicate) ?? false,
                "\(encoded) is read as \(addressed?.values ?? [])")
        }
        try demand(EntityKey(id: key.id(in: set), in: set) == key, "the id \(key.id(in: set)) is another key's")
    }

    private static func checkLink(_ link: String, _ endpoint: Endpoint) throws(FuzzFinding) {
        guard let path = try? ServiceLink.path(of: link, from: "\(endpoint.path)/S", endpoint: endpoint) else { return }
        try demand(path.hasPrefix("/"), "the link \(link) leads to \(path)")
        try demand(AddressFuzz.isSafe(path), "the link \(link) makes the target \(path)")
        let segments = path.prefix { $0 != "?" }.split(separator: "/").map { PercentEncoding.decoded($0) }
        try demand(!segments.contains(".."), "the link \(link) leads upwards: \(path)")
    }
}

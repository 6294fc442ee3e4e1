internal import SluiceCore

/// What must hold for any text as an endpoint's address, or as a part of one.
enum AddressFuzz {
    static func check(_ text: String) throws(FuzzFinding) {
        try checkEncoding(text)
        guard let endpoint = try? Endpoint(text) else { return }
        try demand(text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }, "an address of other characters is taken")
        try demand(!text.contains("@") || endpoint.path.contains("@") || endpoint.query.contains("@"), "credentials")
        let again = try? Endpoint(endpoint.description)
        try demand(again == endpoint, "\(text) is printed as \(endpoint)")
        try demand(endpoint.isOrigin(scheme: endpoint.scheme, authority: endpoint.authority), "not its own origin")
        try demand(endpoint.path.isEmpty || endpoint.path.hasPrefix("/"), "the path is \(endpoint.path)")
    }

    /// What is encoded is decoded as what it was, and stays within its segment or parameter.
    private static func checkEncoding(_ text: String) throws(FuzzFinding) {
        for encoded in [PercentEncoding.segment(text), PercentEncoding.query(text)] {
            try demand(PercentEncoding.decoded(encoded).isExactly(text), "\(text) is encoded as \(encoded)")
            try demand(isSafe(encoded) && !encoded.utf8.contains { "/?&=+;:@".utf8.contains($0) }, "\(encoded) leaks")
        }
        let mended = PercentEncoding.mended(text)
        try demand(isSafe(mended), "\(text) is mended as \(mended)")
        try demand(PercentEncoding.mended(mended) == mended, "\(mended) is mended again")
        try demand(PercentEncoding.decoded(mended).isExactly(PercentEncoding.decoded(text)), "\(mended) means other")

        let path = "/t?\(mended)"
        var query = QueryString(ofPath: path)
        try demand(query.base == "/t", "the path of \(path) is \(query.base)")
        query["name"] = text
        try demand((query["name"] ?? "").isExactly(text), "a parameter is changed")
        try demand(QueryString(ofPath: query.path) == query, "\(query.path) is read otherwise")

        if let plain = try? Endpoint("http://h/app?k=v") {
            let target = plain.target(["tables", text], [("a b", text)])
            let segments = target.prefix { $0 != "?" }.split(separator: "/", omittingEmptySubsequences: false)
            let isOneSegment = segments.count == 4 && PercentEncoding.decoded(segments[3]).isExactly(text)
            try demand(isOneSegment && segments[3] != "." && segments[3] != "..", "an id leaves its place: \(target)")
        }
    }

    /// Whether the text can stand in a request's first line.
    static func isSafe(_ target: String) -> Bool {
        target.utf8.allSatisfy { byte in
            switch byte {
            case 0x22, 0x23, 0x3C, 0x3E, 0x5C, 0x5E, 0x60, 0x7B...0x7D: false
            default: byte > 0x20 && byte < 0x7F
            }
        }
    }
}

package import SluiceBase
package import SluiceWire

/// A link of an answer, to a next page or to changes, as a path to ask for: taken as it is, and on the service's own
/// origin only, since credentials go along.
package enum ServiceLink {
    /// The path with query. A relative link is one below the service's root.
    ///
    /// - Throws: ``SluiceError`` of code `brokenProtocol` for a link to another origin.
    package static func path(of link: String, endpoint: Endpoint) throws(SluiceError) -> String {
        // In ASCII every sign is one character: a mark after a slash would be one with it.
        let text = PercentEncoding.ascii(String(link.unicodeScalars.prefix { $0 != "#" }))
        var rest = text[...]
        if let separator = text.firstRange(of: "://"), text[..<separator.lowerBound].allSatisfy(\.isLetter) {
            let afterScheme = text[separator.upperBound...]
            let authority = afterScheme.prefix { $0 != "/" && $0 != "?" }
            guard endpoint.isOrigin(scheme: String(text[..<separator.lowerBound]), authority: String(authority)) else {
                throw SluiceError(
                    .brokenProtocol, "the service's answer links to another origin, which is not followed")
            }
            rest = afterScheme.dropFirst(authority.count)
        } else if text.hasPrefix("//") {
            throw SluiceError(.brokenProtocol, "the service's answer links to another origin, which is not followed")
        } else if !text.hasPrefix("/") {
            rest = "\(endpoint.path)/\(text)"[...]
        }
        let path = rest.prefix { $0 != "?" }
        let query = rest.dropFirst(path.count + 1)
        guard !path.split(separator: "/").contains(where: { PercentEncoding.decoded($0) == ".." }) else {
            throw SluiceError(.brokenProtocol, "the service's answer links to an address with a step upwards")
        }
        // PercentEncoding's mending keeps escapes as they are.
        let mended = PercentEncoding.mended(path.isEmpty ? "/" : path).replacing("?", with: "%3F")
        return query.isEmpty ? mended : "\(mended)?\(PercentEncoding.mended(query))"
    }
}

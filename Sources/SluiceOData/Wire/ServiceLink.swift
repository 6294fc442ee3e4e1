package import SluiceBase
package import SluiceWire

/// A link of an answer, to a next page or to changes, as a path to ask the service for: its query is taken as it is, and of
/// its path what it names below the service's root (``PageLink``).
package enum ServiceLink {
    /// The path with query. A relative link is one below the service's root.
    ///
    /// - Parameter base: the path of the set to whose pages links lead, without a query.
    /// - Throws: ``SluiceError`` of code `brokenProtocol` for what is no address of HTTP, and for one with a step upwards.
    package static func path(of link: String, from base: String, endpoint: Endpoint) throws(SluiceError) -> String {
        let path: String
        let query: Substring
        switch PageLink(link).form {
        case .address(let linked, let its):
            (path, query) = (local(linked, base[...], endpoint.path), its)
        case .relative(let text):
            let linked = text.hasPrefix("./") ? text.dropFirst(2) : text
            let name = linked.prefix { $0 != "?" }
            (path, query) = (name.isEmpty ? base : "\(endpoint.path)/\(name)", linked.dropFirst(name.count + 1))
        case .other:
            throw SluiceError(.brokenProtocol, "the service's answer links to what is no address of a page")
        }
        guard !path.split(separator: "/").contains(where: { PercentEncoding.decoded($0) == ".." }) else {
            throw SluiceError(.brokenProtocol, "the service's answer links to an address with a step upwards")
        }
        // PercentEncoding's mending keeps escapes as they are.
        let mended = PercentEncoding.mended(path[...]).replacing("?", with: "%3F")
        return query.isEmpty ? mended : "\(mended)?\(PercentEncoding.mended(query))"
    }

    /// A linked path as the service is reached here. Most links lead to the set itself; of another one the folders that its
    /// server and this client both know are found.
    private static func local(_ linked: Substring, _ base: Substring, _ root: String) -> String {
        if PageLink.isSame(linked, base, below: root) { return String(base) }
        if linked == root || linked.hasPrefix(root + "/") { return String(linked) }
        var known = root[...]
        while !known.isEmpty, !linked.hasPrefix(known + "/") {
            known = known.dropFirst().drop { $0 != "/" }
        }
        return "\(root.dropLast(known.count))\(linked)"
    }
}

public import SluiceBase

/// Puts the links of a chain in an order that depends on what they declare of themselves alone, never on the order in
/// which they were given.
///
/// Bands first; inside of a band what `before` and `after` name; then the higher priority; then the name, by its bytes.
public enum ChainOrder {
    /// The links in order, the outermost first, each with the reason for its place.
    ///
    /// - Parameters:
    ///   - links: The links, no two of the same name.
    ///   - known: Names that `before` and `after` may name though there is no such link, such as that of a plugin which
    ///     is switched off.
    ///   - narrowestFirst: Whether, before the priority, the narrower match decides: ``Match/specificity``.
    /// - Throws: ``SluiceError`` of code `invalidArgument` for a name that is not known, two links of one name, a link
    ///   that wants to stand against the order of the bands, and a circle, which the message spells out.
    public static func resolve<Link>(
        _ links: [Placed<Link>], known: Set<String> = [], narrowestFirst: Bool = false
    ) throws(SluiceError) -> [Ordered<Link>] {
        do throws(ChainFault) {
            return try resolve(links, known: known, isNarrowestFirst: narrowestFirst)
        } catch {
            throw SluiceError(.invalidArgument, error.reason)
        }
    }

    /// The same, with the name of the link at fault.
    package static func resolve<Link>(
        _ links: [Placed<Link>], known: Set<String>, isNarrowestFirst: Bool
    ) throws(ChainFault) -> [Ordered<Link>] {
        let graph = try ChainGraph(links.map(\.placement), known)
        let sort = ChainSort(graph, specificities: isNarrowestFirst ? links.map(\.match.specificity) : [])
        return try sort.run().map { Ordered(placed: links[$0.index], why: $0.why) }
    }
}

/// Why links have no order.
package struct ChainFault: Error {
    /// The link that asks for what cannot be.
    package let author: String
    /// What it asks for, and why it cannot be.
    package let reason: String
}

/// Something that stands in a chain: a filter in Swift, a plugin, a conflict handler.
public struct Placed<Link: Sendable>: Sendable {
    /// Where it wants to stand.
    public var placement: Placement
    /// What it is for.
    public var match: Match
    /// The thing itself.
    public var link: Link

    /// A link with its place.
    public init(_ link: Link, placement: Placement, match: Match = .all) {
        self.link = link
        self.placement = placement
        self.match = match
    }
}

/// A link where it stands, and why there.
public struct Ordered<Link: Sendable>: Sendable {
    /// The link, with the place that it asked for.
    public let placed: Placed<Link>
    /// Why it stands where it does, for a person: `band late; after tenant; priority 10`.
    public let why: String

    /// The thing itself.
    public var link: Link { placed.link }
    /// Its name.
    public var name: String { placed.placement.name }
}

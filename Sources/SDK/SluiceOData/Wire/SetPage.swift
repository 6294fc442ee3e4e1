internal import SluiceBase
internal import SluiceWire

/// An answer to a read of a set, in any form of a service: `{"d": {"results": […]}}`, `{"d": […]}` or `{"value": […]}`
/// (OData v2, JSON Format, section 5; OData JSON Format 4.01, section 13).
struct SetPage {
    /// The items in the place of rows.
    var rows: [JSON]
    var nextLink: String?
    var deltaLink: String?
    /// The number of all matching rows, which v2 writes as a text.
    var count: Int64?
    /// Whether there are marks in the place of faults: see ``MarkedFaults``.
    var isMarked = false

    /// - Throws: ``SluiceError`` of code `brokenProtocol` for an answer without rows, and of code `serverFailure` for
    ///   one that has an error beside them: more rows may be missing.
    init(_ body: JSON, table: String) throws(SluiceError) {
        let d = body["d"]
        let holder = d?.kind == .object ? d ?? body : body
        if let said = ServiceError.said(in: body) ?? ServiceError.said(in: holder) {
            throw ServiceError.beside(said, of: table)
        }
        if let elements = d?.elements ?? holder["results"]?.elements ?? body["value"]?.elements ?? body.elements {
            rows = elements
        } else {
            throw SluiceError(
                .brokenProtocol, "the service's answer is not a list: it holds neither value nor d", table: table)
        }
        func text(_ names: String...) -> String? {
            names.lazy.compactMap { holder[$0]?.string }.first { !$0.isEmpty }
        }
        nextLink = text("@odata.nextLink", "@nextLink", "__next")
        deltaLink = text("@odata.deltaLink", "@deltaLink", "__delta")
        let number = holder["@odata.count"] ?? holder["@count"] ?? holder["__count"]
        count = number?.int ?? number?.string.flatMap { Int64($0) }
    }

    /// Returns the single entity of an answer: `{"d": {…}}`, or the object itself. Nil if there is none.
    ///
    /// - Throws: ``SluiceError`` of code `serverFailure` for one with an error beside its properties, which may be
    ///   missing; `brokenProtocol` for a web page and other texts.
    static func entity(in response: SyncResponse, of set: EntitySet) throws(SluiceError) -> JSON? {
        let body = try document(of: response, set)
        let mayBeProperty = set.types["error"] != nil || set.structured["error"] != nil
        if !mayBeProperty, body["error"]?.kind == .object, let said = ServiceError.said(in: body) {
            throw ServiceError.beside(said, of: set.name)
        }
        let entity = body["d"].flatMap { $0.kind == .object ? $0 : nil } ?? body
        return entity.kind == .object ? entity : nil
    }

    /// Returns the document of an answer.
    ///
    /// - Throws: ``SluiceError`` of code `brokenProtocol` for a text that is not JSON, `tooLarge` for too many values.
    static func document(of response: SyncResponse, _ set: EntitySet) throws(SluiceError) -> JSON {
        do throws(JSON.ParseError) {
            return try response.body.json
        } catch {
            throw SluiceError(
                error.isTooLarge ? .tooLarge : .brokenProtocol,
                ServerMessage.isWebPage(response)
                    ? ServerMessage.webPage : "the service's answer is not JSON, or was cut short", table: set.name,
                status: response.status, cause: error)
        }
    }

    /// The meaning of an item, on any page: the pages of a first read may hold tombstones, too.
    enum Change {
        /// The row exists, with these properties.
        case row
        /// The row is deleted, or has left the query, according to its `reason`; nil where the item has none, as all of v2.
        case gone(address: String?, left: Bool?)
        /// A change of a link between rows.
        case link
    }

    /// Whether an item is an existing row, and neither a tombstone nor about a link.
    static func isRow(_ item: JSON) -> Bool { if case .row = change(item) { true } else { false } }

    /// Recognizes tombstones in the forms of 4.0, 4.01 and v2 (OData JSON Format 4.0, section 14; 4.01, section 15).
    static func change(_ item: JSON) -> Change {
        let context = (item["@odata.context"] ?? item["@context"])?.string ?? ""
        if context.hasSuffix("/$link") || context.hasSuffix("/$deletedLink") { return .link }
        if let removed = item["@removed"] ?? item["@odata.removed"] {
            // A plain `id` is a property here, such as the key.
            let address = (item["@id"] ?? item["@odata.id"])?.string
            return .gone(address: address, left: removed["reason"]?.string.map { $0 == "changed" })
        }
        if context.hasSuffix("/$deletedEntity") {
            return .gone(address: item["id"]?.string, left: item["reason"]?.string.map { $0 == "changed" })
        }
        if let metadata = item["__metadata"], metadata["deleted"]?.bool == true {
            return .gone(address: (metadata["uri"] ?? metadata["id"])?.string, left: nil)
        }
        return .row
    }
}

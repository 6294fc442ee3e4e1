internal import SluiceCore
internal import SluiceOData

/// Entities in Atom (OData v2, Atom Format; RFC 4287; tombstones by RFC 6721).
struct RowsAtom {
    let root: String
    let namespace: String
    private static let scheme = "http://schemas.microsoft.com/ado/2007/08/dataservices"

    init(_ call: ServiceCall) {
        root = call.root
        namespace = call.model.namespace
    }

    func document(_ entity: Entity) -> String {
        var xml = XMLWriter()
        entry(entity, &xml, isRoot: true)
        return xml.text
    }

    func document(_ list: EntityList, of set: EntitySet, title: String) -> String {
        var xml = XMLWriter()
        feed(list, of: set, id: root + title, title: title, &xml, isRoot: true)
        return xml.text
    }

    private func feed(
        _ list: EntityList, of set: EntitySet, id: String, title: String, _ xml: inout XMLWriter, isRoot: Bool
    ) {
        xml.element("feed", namespaces(isRoot)) { xml in
            xml.element("title", ["type": "text"], text: title)
            xml.element("id", text: id)
            xml.element("updated", text: Self.updated(list.entities.first))
            xml.element("link", ["rel": "self", "title": title, "href": title])
            if let count = list.count { xml.element("m:count", text: String(count)) }
            for entity in list.entities { entry(entity, &xml) }
            for (id, _) in list.gone {
                xml.element(
                    "at:deleted-entry",
                    [
                        "xmlns:at": "http://purl.org/atompub/tombstones/1.0", "ref": root + set.address(id, .v2),
                        "when": Self.updated(nil),
                    ])
            }
            if let next = list.next { xml.element("link", ["rel": "next", "href": next]) }
            if let delta = list.delta { xml.element("link", ["rel": "delta", "href": delta]) }
        }
    }

    private func entry(_ entity: Entity, _ xml: inout XMLWriter, isRoot: Bool = false) {
        let set = entity.set
        let address = set.address(entity.id, .v2)
        if entity.isReference {
            xml.element("uri", ["xmlns": Self.scheme], text: root + address)
            return
        }
        var attributes: [(String, String?)] = namespaces(isRoot).map { ($0.key, $0.value) }
        attributes.append(("m:etag", entity.etag))
        xml.element("entry", attributes) { xml in
            xml.element("id", text: root + address)
            xml.element("title", ["type": "text"], text: "")
            xml.element("updated", text: Self.updated(entity))
            xml.element("author") { $0.element("name") }
            xml.element("link", ["rel": "edit", "title": set.name, "href": address])
            for link in set.links { self.link(link, entity, address, &xml) }
            xml.element("category", ["term": "\(namespace).\(set.name)", "scheme": Self.scheme + "/scheme"])
            xml.element("content", ["type": "application/xml"]) { xml in
                xml.element("m:properties") { xml in
                    for (name, value, property) in entity.shown {
                        guard let property else { continue }
                        Self.value(value, name, property.type, &xml)
                    }
                }
            }
        }
    }

    /// Writes a property's value as an element.
    static func value(_ value: JSON, _ name: String, _ type: EdmPrimitive, _ xml: inout XMLWriter) {
        let declared = type == .string ? nil : type.rawValue
        guard let text = ValueForm.text(value) else {
            xml.element("d:\(name)", ["m:type": declared, "m:null": "true"])
            return
        }
        xml.element(
            "d:\(name)", ["m:type": declared, "xml:space": text.first?.isWhitespace == true ? "preserve" : nil],
            text: text)
    }

    /// Returns a property as a whole document.
    static func property(_ value: JSON, _ name: String, _ type: EdmPrimitive, _ xml: inout XMLWriter) {
        let declared = type == .string ? nil : type.rawValue
        let text = ValueForm.text(value)
        xml.element(
            name,
            [
                "xmlns": scheme, "xmlns:m": scheme + "/metadata", "m:type": declared,
                "m:null": text == nil ? "true" : nil,
            ], text: text)
    }

    private func link(_ link: EntitySet.Link, _ entity: Entity, _ address: String, _ xml: inout XMLWriter) {
        let related: KeyValuePairs<String, String?> = [
            "rel": "\(Self.scheme)/related/\(link.name)",
            "type": "application/atom+xml;type=\(link.isCollection ? "feed" : "entry")", "title": link.name,
            "href": "\(address)/\(link.name)",
        ]
        switch entity.expanded[link.name] {
        case nil, .count?: xml.element("link", related)
        case .one(let target)?:
            xml.element("link", related) { xml in
                xml.element("m:inline") { xml in if let target { entry(target, &xml) } }
            }
        case .many(let list)?:
            xml.element("link", related) { xml in
                xml.element("m:inline") { xml in
                    feed(
                        list, of: entity.set, id: "\(root)\(address)/\(link.name)", title: link.name, &xml,
                        isRoot: false)
                }
            }
        }
    }

    private func namespaces(_ isRoot: Bool) -> KeyValuePairs<String, String?> {
        guard isRoot else { return [:] }
        return [
            "xml:base": root, "xmlns": "http://www.w3.org/2005/Atom", "xmlns:d": Self.scheme,
            "xmlns:m": Self.scheme + "/metadata",
        ]
    }

    /// Returns the time of an entity; 1970 for one without a time.
    private static func updated(_ entity: Entity?) -> String {
        entity?.record[SystemColumn.updatedAt]?.string ?? Timestamp(ticks: 0).text(fractionDigits: 0)
    }
}

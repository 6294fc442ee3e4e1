internal import HTTPTypes
internal import SluiceCore
internal import SluiceOData

/// The OData service of a story: its names, types and formats.
struct SimulatedService: Sendable {
    /// The names of its entity sets, which are there whether they have rows or not.
    static let sets = ["items", "notes"]

    let version: ODataVersion
    /// Whether a delta names the reason for a row that left the query: deleted, or changed.
    var givesReasons: Bool { version == .v4 }
    let traits: Set<ServiceTrait>
    private let fields: SimulatedFields
    private let digits: Int
    private let keepsAuthors: Bool

    /// Creates the service of a setting; nil where its wire is not OData.
    init?(_ setting: SimulationSetting) {
        guard let version = ODataVersion(rawValue: setting.wire) else { return nil }
        self.version = version
        traits = setting.service
        fields = setting.fields
        digits = setting.digits
        keepsAuthors = setting.traits.contains(.keepsAuthors)
    }

    func has(_ trait: ServiceTrait) -> Bool { traits.contains(trait) }

    /// The property with the time of a row's last change.
    static let time: PropertyName = "Changed"
    /// The address of the service.
    static let root = "http://server.test"

    /// The key's property: the record's id on v2, a property of its own on v4.
    var key: PropertyName { version == .v2 ? "id" : "Key" }
    /// The properties that clients write, except for the key.
    var columns: [PropertyName] {
        SimulatedFields.all.map { PropertyName(fields.name($0)) } + ["group", "item"]
            + (keepsAuthors ? [SimulatedServer.author] : [])
    }

    /// The devices' settings for the service.
    var dialect: Dialect {
        let table = ODataSettings.Table(
            updatedAt: has(.hasNoTime) ? nil : Self.time, key: has(.hasNoMetadata) ? [.init(key, .string)] : [])
        return .odata(
            version,
            ODataSettings(
                tables: ["items": table, "notes": table], update: has(.putsUpdates) ? .put : .merge,
                tunnelsMethods: has(.tunnels)))
    }

    // MARK: Tags

    /// Returns the entity tag of a version.
    func tag(_ number: Int) -> String {
        if has(.escapedTags) { return "W/\"datetime'v\(number)%3A00'\"" }
        return has(.weakTags) ? "W/\"v\(number)\"" : "\"v\(number)\""
    }

    /// Returns the version of a tag; nil for a tag that the service never issued.
    func version(of text: String) -> Int? {
        let number = OracleState.number(text)
        return tag(number) == text ? number : nil
    }

    // MARK: Rows

    /// Returns a row as a device stores it, or as filters see it: with all digits of its time.
    func record(of row: SimulatedRow, isExact: Bool) -> JSON {
        var record: JSON = ["id": JSON(row.id)]
        record[key] = JSON(row.id)
        for name in columns {
            if let value = row.fields[name] {
                record[name] = value
            } else if !has(.hasNoMetadata) {
                record[name] = .null
            }
        }
        record["__version"] = JSON(tag(row.version))
        guard !has(.hasNoTime) else { return record }
        let time: JSON =
            row.isTimed ? JSON(isExact ? row.updatedAt.description : text(of: row.updatedAt)) : .null
        record[Self.time] = time
        record["__updatedAt"] = time
        return record
    }

    /// Returns the time as a device stores it. v2 has milliseconds, and leaves zero ones out.
    private func text(of time: Timestamp) -> String {
        guard version == .v2 else { return time.text(fractionDigits: digits) }
        let milliseconds = time.ticks / 10_000
        return Timestamp(ticks: milliseconds * 10_000).text(fractionDigits: milliseconds % 1000 == 0 ? 0 : 3)
    }

    /// Returns the wire form of a row, given its record.
    func entity(_ record: JSON, _ table: String, only names: [PropertyName]? = nil) -> JSON {
        let tag = record["__version"] ?? .null
        let address = JSON("\(Self.root)/\(address(record["id"]?.textID ?? "", table))")
        var entity: JSON =
            version == .v4
            ? ["@odata.id": address, "@odata.etag": tag]
            : ["__metadata": ["uri": address, "etag": tag, "type": JSON("story.\(table)")]]
        for (name, value) in record.members ?? [] where name == key || columns.contains(name) || name == Self.time {
            if let names, !names.contains(name) { continue }
            entity[name] = wire(value, name)
        }
        return entity
    }

    private func wire(_ value: JSON, _ name: PropertyName) -> JSON {
        guard version == .v2 else { return value }
        if name == Self.time, let time = value.string.flatMap({ Timestamp($0) }) {
            return JSON("/Date(\(time.ticks / 10_000))/")
        }
        return isLong(name) ? value.int.map { JSON("\($0)") } ?? value : value
    }

    /// Whether the property has the type that v2 writes as a text. A device without the metadata takes it for a text.
    private func isLong(_ name: PropertyName) -> Bool { !has(.hasNoMetadata) && fields.isOne(name) }

    /// Returns a client's properties as the server stores them; nil if the service lacks one of them.
    func fields(of body: JSON) -> JSON? {
        var written = JSON.object
        for (name, value) in body.members ?? [] where name != key && name != Self.time {
            guard columns.contains(name) else { return nil }
            if version == .v2, isLong(name), !value.isNull {
                guard let number = value.string.flatMap({ Int64($0) }) else { return nil }
                written[name] = JSON(number)
            } else {
                written[name] = value
            }
        }
        return written
    }

    /// Returns a row's address below the root.
    func address(_ id: RecordID, _ table: String) -> String {
        "\(table)('\(Self.escaped(id.text.replacing("'", with: "''")))')"
    }

    static func escaped(_ text: String) -> String {
        var escaped = ""
        for byte in text.utf8 {
            let scalar = Unicode.Scalar(byte)
            let isPlain =
                scalar.isASCII && (scalar.properties.isAlphabetic || "0123456789-._~'".unicodeScalars.contains(scalar))
            escaped += isPlain ? String(scalar) : "%" + String(Int(byte) + 256, radix: 16, uppercase: true).dropFirst()
        }
        return escaped
    }

    /// Returns the tombstone of a row that was deleted or has left the query.
    func tombstone(_ id: RecordID, _ table: String, isDeleted: Bool) -> JSON {
        let address = address(id, table)
        let reason = isDeleted ? "deleted" : "changed"
        if has(.oldTombstones) {
            return [
                "@odata.context": JSON("\(Self.root)/$metadata#\(table)/$deletedEntity"),
                "id": JSON("\(Self.root)/\(address)"), "reason": JSON(reason),
            ]
        }
        if version == .v2 { return ["__metadata": ["uri": JSON("\(Self.root)/\(address)"), "deleted": true]] }
        return ["@removed": ["reason": JSON(reason)], "@id": JSON(address)]
    }

    /// Whether the service can report that an existing row has left the query.
    var tellsOfLeavers: Bool { version == .v4 || has(.oldTombstones) }

    // MARK: Answers

    /// Returns a refusal in the form of the wire.
    func refusal(_ status: Int, _ message: String) -> SyncResponse {
        let text: JSON = version == .v2 ? ["lang": "en", "value": JSON(message)] : JSON(message)
        return .model(status, ["error": ["code": JSON("story/\(status)"), "message": text]])
    }

    /// Returns an answer with rows.
    func page(_ items: [JSON], _ table: String, count: Int?, next: String?, delta: String?) -> SyncResponse {
        func link(_ link: String?) -> JSON? { link.map { JSON(has(.relativeLinks) ? $0 : "\(Self.root)/\($0)") } }
        if version == .v4 {
            var page: JSON = ["@odata.context": JSON("\(Self.root)/$metadata#\(table)"), "value": JSON(items)]
            if let count { page["@odata.count"] = JSON(count) }
            if let next = link(next) { page["@odata.nextLink"] = next }
            if let delta = link(delta) { page["@odata.deltaLink"] = delta }
            return .model(200, page)
        }
        var page: JSON = ["results": JSON(items)]
        if let count { page["__count"] = JSON("\(count)") }
        if let next = link(next) { page["__next"] = next }
        if let delta = link(delta) { page["__delta"] = delta }
        return .model(200, ["d": page])
    }

    /// Returns an answer with one row.
    func answer(_ status: Int, _ record: JSON, _ table: String) -> SyncResponse {
        let entity = entity(record, table)
        var response = SyncResponse.model(status, version == .v2 ? ["d": entity] : entity)
        response.head.headerFields[.eTag] = record["__version"]?.string
        return response
    }

    /// The service's metadata document.
    var description: SyncResponse {
        var response = SyncResponse.model(200, nil)
        response.head.headerFields[.contentType] = "application/xml"
        let isOld = version == .v2
        let schema = isOld ? "http://schemas.microsoft.com/ado/2008/09/edm" : "http://docs.oasis-open.org/odata/ns/edm"
        let types = Self.sets.map { table in
            var properties =
                "<Key><PropertyRef Name=\"\(key.text)\"/></Key>"
                + "<Property Name=\"\(key.text)\" Type=\"Edm.String\" Nullable=\"false\"/>"
            for name in columns {
                let type = fields.isOne(name) ? "Int64" : name == "group" ? "Int32" : "String"
                properties += "<Property Name=\"\(name.text)\" Type=\"Edm.\(type)\"/>"
            }
            if !has(.hasNoTime) {
                let sap = isOld ? " sap:creatable=\"false\" sap:updatable=\"false\"" : ""
                properties += "<Property Name=\"\(Self.time.text)\" Type=\"Edm.DateTimeOffset\"\(sap)/>"
            }
            return "<EntityType Name=\"\(table)\">\(properties)</EntityType>"
        }
        let sets = Self.sets.map { "<EntitySet Name=\"\($0)\" EntityType=\"story.\($0)\"/>" }
        let wrapper =
            isOld ? "http://schemas.microsoft.com/ado/2007/06/edmx" : "http://docs.oasis-open.org/odata/ns/edmx"
        response.body = MessageBody(
            bytes: Array(
                """
                <edmx:Edmx Version="\(isOld ? "1.0" : "4.0")" xmlns:edmx="\(wrapper)"><edmx:DataServices>\
                <Schema Namespace="story" xmlns="\(schema)" xmlns:sap="http://www.sap.com/Protocols/SAPData">\
                \(types.joined())<EntityContainer Name="Container">\(sets.joined())</EntityContainer>\
                </Schema></edmx:DataServices></edmx:Edmx>
                """.utf8))
        return response
    }
}

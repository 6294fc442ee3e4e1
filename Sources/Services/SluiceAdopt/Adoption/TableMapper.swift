internal import SluiceBase
internal import SluiceSync

/// Finds the way of each old table to a table of the server's.
struct TableMapper {
    let names: FormatNames
    let fingerprint: Fingerprint
    let options: AdoptionOptions
    let system: SystemNames
    private(set) var maps: [TableMap] = []
    /// Tables, columns and types that are not known, each as a text.
    private(set) var unknown: [String] = []
    private(set) var notes: [String] = []

    init(
        _ file: OldFile, _ names: FormatNames, _ fingerprint: Fingerprint, _ options: AdoptionOptions,
        _ system: SystemNames
    ) throws {
        (self.names, self.fingerprint, self.options, self.system) = (names, fingerprint, options, system)
        let own = Set(fingerprint.tables.keys).union(fingerprint.ignored)
        for (table, columns) in file.tables.sorted(by: { $0.key < $1.key }) where !own.contains(table) {
            if options.leftTables.contains(table) { continue }
            try add(table, columns)
        }
        for name in (options.leftTables.union(options.names.keys)).sorted() where !file.has(name) {
            unknown.append("the old store has no table \(name)")
        }
        var seen: Set<String> = []
        for map in maps where !seen.insert(map.name).inserted {
            unknown.append("two tables of the old store would be \(map.name)")
        }
    }

    /// Returns the map of the table that an operation or a token names; nil where the store has no such table. The
    /// toolkit names an entity's type, whose last part is the entity.
    func map(_ name: String) -> TableMap? {
        let entity = names.format == .toolkit ? name.split(separator: ".").last.map(String.init) ?? name : name
        let folded = entity.lowercased()
        return maps.first { $0.name == name } ?? maps.first { $0.source == name }
            ?? maps.first { names.table($0.source)?.lowercased() == folded || $0.name.lowercased() == folded }
    }

    private mutating func add(_ table: String, _ columns: [OldColumn]) throws {
        let spelled = options.tables.first { $0.name.lowercased() == names.table(table)?.lowercased() }
        let declaredName =
            spelled ?? options.tables.first { $0.name.lowercased() == table.lowercased() }
        // An entity of Core Data may be the application's alone.
        let own = names.table(table).flatMap { names.format != .ios || names.evidence.table($0) != nil ? $0 : nil }
        guard let name = options.names[table] ?? declaredName?.name ?? own else {
            unknown.append("\(table) is no table whose name at the server is known")
            return
        }
        do { try SyncTables.validate(name) } catch {
            unknown.append("\(table): \(error.message)")
            return
        }
        guard columns.contains(where: { $0.name == names.id }) else {
            unknown.append("\(table) has no column \(names.id)")
            return
        }
        let declared = options.tables.first { $0.name == name }
        let plainNames = columns.compactMap { names.plain($0.name).map(PropertyName.init) }
        var mapped: [TableMap.Column] = []
        for column in columns where column.name != names.id {
            guard let plain = names.plain(column.name) else { continue }
            let systemProperty = system.property(for: plain, beside: plainNames)
            let known = declared?.columns.first { $0.name.text.lowercased() == plain.lowercased() }
            let isCreatedAt = plain.lowercased() == "createdat" && systemProperty == nil
            if isCreatedAt, known == nil {
                notes.append(
                    "\(table).\(column.name) is left out, because the wire has no such property; declare it where it is the "
                        + "application's own")
                continue
            }
            let spelling =
                systemProperty ?? known?.name
                ?? (names.isCaseless ? names.evidence.name(plain, of: name) : PropertyName(plain))
            guard let property = spelling else {
                unknown.append("\(table).\(column.name) is a property whose spelling is not known")
                continue
            }
            let isTime =
                systemProperty == system.columns.updatedAt || isCreatedAt
                || systemProperty != nil && systemProperty == system.columns.createdAt
            let form =
                systemProperty == system.columns.version
                ? names.format == .toolkit && column.type == "BLOB" ? .bytes : .text
                : try names.form(
                    of: column, in: table, declared: known?.type, seen: names.evidence.kind(plain, of: name),
                    isTime: isTime, isMark: systemProperty == system.columns.deleted)
            guard let form else {
                let type = column.type.isEmpty ? "no type" : column.type
                unknown.append("\(table).\(column.name) (\(type)) has values whose type is not known")
                continue
            }
            if form == .localTime, options.utc == nil {
                unknown.append("\(table).\(column.name) has times of a time zone that is not known")
                continue
            }
            if form == .guid { notes.append("\(table).\(column.name): GUIDs in capitals are sent in small letters") }
            mapped.append(
                TableMap.Column(
                    source: column.name, property: property, form: form, isNullable: !column.isRequired,
                    isFallback: mapped.contains { $0.property == property }))
        }
        // Of two columns of one property the newer name counts first.
        mapped.sort { !$0.source.hasPrefix("__") && $1.source.hasPrefix("__") }
        mapped = mapped.enumerated().map { place, column in
            TableMap.Column(
                source: column.source, property: column.property, form: column.form, isNullable: column.isNullable,
                isFallback: mapped[..<place].contains { $0.property == column.property })
        }
        for column in declared?.columns ?? [] where !mapped.contains(where: { $0.property == column.name }) {
            notes.append("\(table) has no column for the declared \(name).\(column.name)")
        }
        maps.append(
            TableMap(source: table, name: name, id: names.id, columns: mapped, system: system.columns.system))
    }
}

internal import SluiceCore

/// The statements that adopt a table or undo the adoption.
struct AdoptionSQL {
    private let table: AdoptedTable
    /// The columns of the copy.
    private let copied: TableSchema
    /// The schema of the backend's own tables.
    private let home: String

    /// The distance in ticks of the times of one statement's rows: ten a millisecond, so that pages can begin between
    /// them.
    private static let step = 1000
    /// The names of the triggers with their events.
    private static let triggers = [
        ("before", "BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE", ""),
        ("insert", "AFTER INSERT", "REFERENCING NEW TABLE AS sluice_new "),
        ("update", "AFTER UPDATE", "REFERENCING OLD TABLE AS sluice_old NEW TABLE AS sluice_new "),
        ("delete", "AFTER DELETE", "REFERENCING OLD TABLE AS sluice_old "),
        ("truncate", "AFTER TRUNCATE", ""),
    ]
    static let triggerNames = triggers.map { "sluice_adopt_\($0.0)" }

    init(_ table: AdoptedTable, _ copied: TableSchema, home: String) {
        self.table = table
        self.copied = copied
        self.home = home
    }

    private var copy: String { "\(AdoptedTable.quoted(home)).\(AdoptedTable.quoted(table.copy))" }
    private var function: String { "\(AdoptedTable.quoted(home)).\(AdoptedTable.quoted(table.function))()" }
    private var name: String { AdoptedTable.constant(table.name) }

    // MARK: Adopting

    /// The statements of the adoption, for one transaction with the lock on the counter.
    var adopting: [String] {
        ["LOCK TABLE \(table.place) IN SHARE ROW EXCLUSIVE MODE", PostgresRecords(copied, table.copy).createSQL]
            + documentSQL + [functionSQL]
            + Self.triggers.map { suffix, events, tables in
                "CREATE TRIGGER sluice_adopt_\(suffix) \(events) ON \(table.place) \(tables)"
                    + "FOR EACH STATEMENT EXECUTE FUNCTION \(function)"
            } + [copySQL, noteSQL, counterSQL]
    }

    /// Copies the existing rows, each with a version and a time.
    private var copySQL: String {
        let stamps = Stamps(epoch: "s.epoch", number: "s.number", time: "s.time")
        return """
            WITH s AS MATERIALIZED (
                SELECT (SELECT epoch FROM sluice_runs ORDER BY run DESC LIMIT 1) AS epoch,
                    (SELECT value FROM sluice_counter) AS number, \(Self.now) AS time)
            \(insert(from: table.place, stamps, and: ", s"))
            """
    }

    /// Stores the copy's columns in the catalog. Tokens of an earlier adoption become invalid, because later deletes
    /// are unknown.
    private var noteSQL: String {
        let columns = JSON(copied.columns.map { JSON([JSON($0.name), JSON($0.type.rawValue)]) }).description
        let ticks: (String) -> String = { "(extract(epoch FROM \($0)(\"updatedAt\")) * 1000000)::bigint * 10" }
        return """
            INSERT INTO sluice_tables (name, columns, adopted, latest, removed)
                SELECT \(name), \(AdoptedTable.constant(columns)), \(AdoptedTable.constant(table.json.description)),
                    coalesce(\(ticks("max")), \(Self.now)), coalesce(\(ticks("min")) - 10, \(Self.now))
                FROM \(copy)
            """
    }

    private var counterSQL: String { "UPDATE sluice_counter SET value = value + (SELECT count(*) FROM \(copy))" }

    private static let now = "(extract(epoch FROM clock_timestamp()) * 1000000)::bigint * 10"

    /// The expression that converts a `json` column to `jsonb`: NULL if `jsonb` cannot hold the document, because a
    /// trigger must not break the operator's own SQL.
    private var documentSQL: [String] {
        guard table.columns.contains(where: { $0.held == "json" }) else { return [] }
        return [
            """
            CREATE FUNCTION \(document)(held json) RETURNS jsonb LANGUAGE plpgsql IMMUTABLE AS $sluice$
            BEGIN
                RETURN held::jsonb;
            EXCEPTION WHEN data_exception OR program_limit_exceeded THEN
                RETURN NULL;
            END
            $sluice$
            """
        ]
    }

    private var document: String { "\(AdoptedTable.quoted(home)).\(AdoptedTable.quoted(table.documentFunction))" }

    // MARK: The triggers' function

    private var functionSQL: String {
        let body = body
        // The delimiter occurs in no name of the operator's.
        var tag = "$sluice$"
        while body.contains(tag) { tag = "$sluice_\(tag.dropFirst())" }
        return """
            CREATE FUNCTION \(function) RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
                SET search_path = \(AdoptedTable.quoted(home)), pg_temp SET timezone = 'UTC' AS \(tag)
            \(body)\(tag)
            """
    }

    /// The function's body: takes the writers' lock before any row is changed, and then stamps the changed rows.
    ///
    /// The statement's rows only say which keys it has changed: the operator's own triggers may have changed, deleted or made
    /// those rows since, by statements that came here before.
    private var body: String {
        let (key, place) = (AdoptedTable.quoted(table.key), table.place)
        let text = "\(key)::text COLLATE \"C\""
        func follow(_ rows: String) -> String {
            let keys = "SELECT \(key) FROM \(rows)"
            let there = "(SELECT p.* FROM \(place) AS p WHERE p.\(key) IN (\(keys)))"
            let gone = "SELECT \(text) AS id FROM (\(keys) EXCEPT SELECT \(key) FROM \(there) AS p) AS k"
            return """
                \(removal(of: gone))
                        SELECT count(*) INTO sluice_found FROM \(rows);
                        \(insert(from: there, .inTrigger, and: ""));
                        GET DIAGNOSTICS sluice_rows = ROW_COUNT;
                        IF sluice_rows > 0 THEN sluice_count := sluice_count + sluice_found; END IF;
                """
        }
        return """
            DECLARE
                sluice_epoch bigint; sluice_number bigint; sluice_time bigint;
                sluice_found bigint; sluice_rows bigint; sluice_count bigint := 0;
            BEGIN
                SELECT value INTO STRICT sluice_number FROM sluice_counter FOR UPDATE;
                IF TG_WHEN = 'BEFORE' THEN RETURN NULL; END IF;
                SELECT epoch INTO STRICT sluice_epoch FROM sluice_runs ORDER BY run DESC LIMIT 1;
                SELECT greatest(latest / 10 * 10, \(Self.now)) INTO STRICT sluice_time
                    FROM sluice_tables WHERE name = \(name);
                IF TG_OP = 'INSERT' THEN
            \(follow("sluice_new"))
                ELSIF TG_OP = 'DELETE' THEN
            \(follow("sluice_old"))
                ELSIF TG_OP = 'UPDATE' THEN
            \(follow("(SELECT \(key) FROM sluice_old UNION SELECT \(key) FROM sluice_new) AS k"))
                ELSE
            \(removal(of: "SELECT id FROM \(copy) WHERE NOT deleted EXCEPT SELECT \(text) FROM \(place)"))
                END IF;
                IF sluice_count > 0 THEN
                    UPDATE sluice_counter SET value = sluice_number + sluice_count;
                    UPDATE sluice_tables SET latest = sluice_time + sluice_count * \(Self.step) WHERE name = \(name);
                    PERFORM pg_notify('\(PostgresListener.channel)', '');
                END IF;
                RETURN NULL;
            END
            """
    }

    /// The statements for deleted rows: they make tombstones, or remove the rows and invalidate old tokens.
    private func removal(of ids: String) -> String {
        guard table.softDelete else {
            return """
                        DELETE FROM \(copy) WHERE id IN (\(ids));
                        GET DIAGNOSTICS sluice_rows = ROW_COUNT;
                        IF sluice_rows > 0 THEN
                            sluice_count := sluice_count + 1;
                            UPDATE sluice_tables SET removed = sluice_time + sluice_count * \(Self.step)
                                WHERE name = \(name);
                        END IF;
                """
        }
        let stamps = Stamps.inTrigger
        return """
                    SELECT count(*) INTO sluice_found FROM (\(ids)) AS gone;
                    IF sluice_found > 0 THEN
                        UPDATE \(copy) AS c SET deleted = true, "updatedAt" = \(stamps.moment("n")),
                            version = \(stamps.version("n"))
                        FROM (SELECT id, row_number() OVER (ORDER BY id) AS i FROM (\(ids)) AS gone) AS n
                        WHERE c.id = n.id AND NOT c.deleted;
                        sluice_count := sluice_count + sluice_found;
                    END IF;
            """
    }

    /// Copies rows of the operator's table into the copy. Equal rows stay unchanged.
    private func insert(from source: String, _ stamps: Stamps, and more: String) -> String {
        let key = "t.\(AdoptedTable.quoted(table.key))"
        let own = table.columns.map { AdoptedTable.quoted($0.name.text) }
        let shown = table.columns.enumerated().map { "\(self.shown($1)) AS c\($0)" }
        let number = table.hasNumbers ? [AdoptedTable.quoted(SystemColumn.number.text)] : []
        let filled = ["id"] + number + own + ["\"createdAt\"", "\"updatedAt\"", "version", "deleted"]
        let names = table.columns.map { AdoptedTable.constant($0.name.text) }.joined(separator: ", ")
        let moment = stamps.moment("n")
        let values =
            ["n.id"] + number.map { _ in "n.id::bigint" } + own.indices.map { "n.c\($0)" }
            + [moment, moment, stamps.version("n"), "false"]
        let changes = own.map { "\($0) = excluded.\($0)" }
        let unequal =
            "(\(own.map { "c.\($0)" }.joined(separator: ", "))) IS DISTINCT FROM "
            + "(\(own.map { "excluded.\($0)" }.joined(separator: ", ")))"
        return """
            INSERT INTO \(copy) AS c (\(filled.joined(separator: ", ")))
            SELECT \(values.joined(separator: ", "))
            FROM (SELECT \((["\(key)::text COLLATE \"C\" AS id"] + shown).joined(separator: ", ")),
                row_number() OVER (ORDER BY \(key)) AS i FROM \(source) AS t) AS n\(more)
            ON CONFLICT (id) DO UPDATE SET \(changes.joined(separator: ", ")),
                "updatedAt" = excluded."updatedAt", version = excluded.version, deleted = false, "_absent" = NULL,
                "createdAt" = CASE WHEN c.deleted THEN excluded."createdAt" ELSE c."createdAt" END,
                "_extra" = CASE WHEN NOT c.deleted THEN c."_extra" - ARRAY[\(names)]::text[] END
            WHERE c.deleted OR \(unequal)
            """
    }

    /// Returns the expression of the operator's column in the copy's form. A value that the form cannot hold becomes
    /// NULL, because a trigger must not break the operator's own SQL.
    private func shown(_ column: AdoptedTable.Column) -> String {
        let place = "t.\(AdoptedTable.quoted(column.name.text))"
        switch column.type {
        case .string: return "\(place)::text"
        case .integer: return "\(place)::bigint"
        // Infinities and NaN, which are the greatest of all, become NULL. So does a number beyond the range of doubles, and
        // one below it zero: the cast would fail.
        case .real:
            let isFinite = "abs(\(place)) <= 1.7976931348623157e308"
            guard !["double precision", "real"].contains(column.held) else {
                return "CASE WHEN \(isFinite) THEN \(place)::double precision END"
            }
            return "CASE WHEN abs(\(place)) < 5e-324 THEN 0 WHEN \(isFinite) THEN \(place)::double precision END"
        case .boolean: return place
        case .date:
            // Times have the years 1 to 9999.
            let isInside = "\(place) >= '0001-01-01' AND \(place) < '10000-01-01'"
            switch column.held {
            case "date": return "CASE WHEN \(isInside) THEN \(place)::timestamp AT TIME ZONE 'UTC' END"
            case "timestamp without time zone": return "CASE WHEN \(isInside) THEN \(place) AT TIME ZONE 'UTC' END"
            default:
                return "CASE WHEN \(place) >= '0001-01-01 00:00:00Z' AND \(place) < '10000-01-01 00:00:00Z' "
                    + "THEN \(place) END"
            }
        case .json: return column.held == "json" ? "\(document)(\(place))" : place
        }
    }

    /// The versions and times of rows with a number `i`, from 1 on.
    private struct Stamps {
        var epoch: String
        var number: String
        var time: String
        var count = "0"

        static let inTrigger = Stamps(
            epoch: "sluice_epoch", number: "sluice_number", time: "sluice_time", count: "sluice_count")

        func version(_ row: String) -> String {
            "encode(substring(int8send(\(epoch)) FROM 5) || int8send(\(number) + \(count) + \(row).i), 'base64')"
        }

        func moment(_ row: String) -> String {
            "'1970-01-01 00:00:00Z'::timestamptz + (\(time) / 10 + (\(count) + \(row).i) * \(AdoptionSQL.step / 10)) "
                + "* interval '1 microsecond'"
        }
    }

    // MARK: Undoing

    /// The statements that undo the adoption.
    var undoing: [String] {
        Self.triggerNames.map { "DROP TRIGGER IF EXISTS \($0) ON \(table.place)" } + [
            "DROP FUNCTION \(function)", "DROP FUNCTION IF EXISTS \(document)(json)",
            "DROP TABLE \(copy)", "DELETE FROM sluice_tables WHERE name = \(name)",
            "DELETE FROM sluice_properties WHERE name = \(name)",
        ]
    }
}

/// Texts that would do harm, or come back as others, if they were put into SQL, an address, a header field, JSON or a
/// filter as they are.
package enum HostileText {
    package static let all = [
        "'", "''", "\"", "`", "';--", "' OR '1'='1", "') OR 1=1 --", "x' UNION SELECT sql FROM sqlite_schema --",
        "\"; DROP TABLE \"t\"; --", "1; DELETE FROM t", "?1", ":name", "@name", "$name", "[id]", "/* */", "--", "\\'",
        "%", "%27", "%2527", "%00", "%2F..%2F", "100%", "_", "*", "a&b=c", "a+b", "a;b", "a?b", "a#b", "a/b", "..", ".",
        "\\", "\\u0000", "{\"id\":\"x\"}", "]}", "x\r\nIf-Match: *", "\t", " ", "\u{0}", "\u{7F}", "\u{202E}",
        "\u{301}",
        "é", "e\u{301}", "😀", "İ", "null", "true", "_x0041_", "_x0041 ", "_x005F_", "not", "and", "id eq 'x'", "$top",
        "sluice_bool(1)", "rowid", "_extra", "_absent",
    ]
}

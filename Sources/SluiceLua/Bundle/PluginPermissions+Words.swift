extension PluginPermissions {
    /// Each permission in words, so that two plugins, or two versions of one, can be compared.
    package var words: Set<String> {
        var words: Set<String> = []
        for host in http { words.insert("ask \(host) by http") }
        if kvBytes > 0 { words.insert("keep \(kvBytes) bytes") }
        for name in secrets { words.insert("use the secret \(name)") }
        for name in readHeaders { words.insert("read the header field \(name)") }
        for change in change { words.insert("change \(change)") }
        if clock { words.insert("read the clock") }
        if random { words.insert("use chance") }
        for (table, access) in tables {
            words.insert("\(access == .read ? "read" : "read and write") the table \(table)")
        }
        return words
    }
}

extension HostileCase {
    /// All cases as a table in Markdown, group by group: what the server does, what the client is doing, how it ends.
    public static var table: String {
        Group.allCases.map { group in
            let rows = all.filter { $0.group == group }.map { hostile in
                "| \(cell(hostile.name)) | \(hostile.call.rawValue) | \(cell(hostile.outcome.description)) |"
            }
            return """
                ### \(group.rawValue.prefix(1).uppercased())\(group.rawValue.dropFirst()) (\(rows.count))

                | the server | the client | the end |
                |---|---|---|
                \(rows.joined(separator: "\n"))
                """
        }.joined(separator: "\n\n") + "\n"
    }

    private static func cell(_ text: String) -> String {
        text.replacing("\\", with: "\\\\").replacing("|", with: "\\|").replacing("<", with: "&lt;")
            .replacing("*", with: "\\*")
    }
}

/// The functions of SQLite that SQL may call: those that depend on their arguments and the time only, and change
/// nothing. What a library has beyond these is not known here, and may write files or load code.
enum SQLFunctionNames {
    /// Whether a statement may call the function.
    static func contains(_ name: String) -> Bool { all.contains(name.lowercased()) }

    private static let all = Set(
        [core, time, aggregates, windows, mathematics, json].flatMap { $0.split(separator: " ").map(String.init) })

    // sqlite.org/lang_corefunc.html
    private static let core = """
        abs char coalesce concat concat_ws format glob hex if ifnull iif instr length like likelihood likely \
        lower ltrim max min nullif octet_length printf quote random randomblob replace round rtrim sign soundex \
        sqlite_version substr substring trim typeof unhex unicode unistr unistr_quote unlikely upper zeroblob
        """
    // sqlite.org/lang_datefunc.html
    private static let time = """
        date time datetime julianday unixepoch strftime timediff current_date current_time current_timestamp
        """
    // sqlite.org/lang_aggfunc.html
    private static let aggregates = "avg count group_concat string_agg sum total median percentile"
    // sqlite.org/windowfunctions.html
    private static let windows = """
        row_number rank dense_rank percent_rank cume_dist ntile lag lead first_value last_value nth_value
        """
    // sqlite.org/lang_mathfunc.html
    private static let mathematics = """
        acos acosh asin asinh atan atan2 atanh ceil ceiling cos cosh degrees exp floor ln log log10 log2 mod pi pow \
        power radians sin sinh sqrt tan tanh trunc
        """
    // sqlite.org/json1.html
    private static let json = """
        -> ->> json jsonb json_array jsonb_array json_array_length json_error_position json_extract jsonb_extract \
        json_insert jsonb_insert json_object jsonb_object json_patch jsonb_patch json_pretty json_remove jsonb_remove \
        json_replace jsonb_replace json_set jsonb_set json_type json_valid json_quote json_group_array \
        jsonb_group_array json_group_object jsonb_group_object
        """
    /// The tables that SQLite makes of a JSON value.
    static let tables: Set<String> = ["json_each", "json_tree", "jsonb_each", "jsonb_tree"]
}

extension ProbeFinding.Code {
    /// The texts of findings about times and pulls; nil for others.
    var timing: ProbeFinding.Advice? {
        switch self {
        case .tiesUnsorted:
            .warning(
                "an idle pull takes three requests or more in place of two", "sort rows of one time by id as well",
                "uses the grade timestamps")
        case .tiesShuffled:
            .warning(
                "where many rows have one time each pull reads all rows",
                "sort by the time and the id, which no two rows share",
                "uses the grade full once it has seen it (noFixedOrder)")
        case .timesMisread:
            .warning(
                "each pull reads all rows", "read times in filters in the zone in which they are written",
                "checks the row by its id, and uses the grade full (timesMisread)")
        case .timesRounded:
            .warning(
                "an idle pull takes three requests or more in place of two",
                "write times to the digit that filters compare",
                "notices the missing row, and uses the grade timestamps")
        case .timesAhead:
            .warning(
                "rows of the present are hidden behind rows of the future",
                "mend these times; set no time of change by hand",
                "holds the cursor at the server's clock, so these rows come with each pull")
        case .timesZoneless:
            .warning(
                "clients in other zones read another time", "end times with Z or an offset", "reads them as UTC")
        case .clockMissing:
            .warning(
                "the newest rows come again with each pull", "send Date (RFC 9110, section 6.6.1)",
                "has only this machine's clock to go by")
        case .clockOff:
            .warning(
                "tokens seem expired or not valid yet", "set the clock of the server or of this machine",
                "measures by both clocks, and trusts neither alone")
        case .clockSet:
            .warning(
                "rows may have been written with times already pulled",
                "let the clock run slower in place of setting it back",
                "goes back, and compares all rows")
        case .clockAhead:
            .warning(
                "a cursor by Date alone would pass rows", "set the clocks of web server and database alike",
                "goes by the newest row's time (commitLag)")
        case .pullFails:
            .fault(
                "the table cannot be synced", "see the reason", "keeps what it has; the next pull goes on from there")
        case .pullNeverSettles:
            .warning(
                "each pull brings rows that nobody has changed",
                "change version and time of a row only when it is written",
                "stores them again each time")
        case .reconcileDiffers:
            .fault(
                "a comparison finds differences that are none", "compute digests over the rows that lists show",
                "asks for each row that seems to be gone before it removes it")
        case .changesMissed:
            .fault(
                "devices keep old rows", "see timeUnchanged, or have the change token cover each commit",
                "finds them by sluice reconcile alone")
        case .deletesMissed:
            .fault(
                "devices keep deleted rows", "set the time of change with the delete, and list deleted rows when asked",
                "finds them by sluice reconcile alone")
        default: nil
        }
    }
}

/// What the server of a story does all the time, other than a good one would or than most do. Each seed draws some.
public enum SimulationHabit: String, Sendable, Hashable, CaseIterable {
    /// Its web server's clock is ahead of its database's by more than the commit lag.
    case clockAhead
    /// Rows of one time come in another order each time they are asked for.
    case shufflesTies
    /// Its web server adds `-gzip` to the tag of what it packs.
    case marksTags
    /// It makes texts of the numbers that it is sent.
    case keepsTexts
    /// It has rows whose time of change is no time, and rows nested deeper than any reader goes.
    case hasOddRows
    /// Where it refuses a request it repeats the token that came with it.
    case repeatsTokens
    /// The properties that applications write have names that are equal except for Unicode normalisation.
    case hasTwinNames
    /// Two of the records have ids that are equal except for Unicode normalisation.
    case hasTwinIDs
    /// It keeps a column that says which write was the last one.
    case keepsAuthors
    /// Rows that others write have no time of change, and come before all others where they are sorted by it.
    case untimedFirst
    /// Rows that others write have no time of change, and come after all others where they are sorted by it.
    case untimedLast
    /// It refuses to be asked for more than a few rows at once.
    case refusesLargePages
    /// It sends another number of rows with each page.
    case variesPages
    /// It fails where a page would have more than a few rows.
    case failsLargePages
    /// Its rows are so large that a device takes no answer with more than a few.
    case hasLargeRows
    /// Its ids are compared without case, and it writes them in capitals.
    case capitalIDs
    /// It sorts ids without case, and compares them with it.
    case sortsWithoutCase
}

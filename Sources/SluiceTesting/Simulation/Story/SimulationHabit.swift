/// What the server of a story does all the time, other than a good one would. Each seed draws some of them.
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
}

/// A permanent trait of a story's server that differs from a good server or from most. Each seed draws some.
public enum ServerTrait: String, Sendable, Hashable, CaseIterable {
    /// Its web server's clock is ahead of its database's by more than the commit lag.
    case clockAhead
    /// Rows with the same time come in another order at each request.
    case shufflesTies
    /// Its web server adds `-gzip` to the tag of a compressed answer.
    case marksTags
    /// It turns received numbers into texts.
    case keepsTexts
    /// It has a row with a time of change that is no time, and a row nested deeper than any reader allows.
    case hasOddRows
    /// A refusal repeats the token of its request.
    case repeatsTokens
    /// The two properties that applications write have names that are equal except for Unicode normalisation.
    case hasTwinNames
    /// Two of the records have ids that are equal except for Unicode normalisation.
    case hasTwinIDs
    /// It keeps a column that names the last write.
    case keepsAuthors
    /// Rows written by other clients have no time of change, and sort before all others by it.
    case untimedFirst
    /// Rows written by other clients have no time of change, and sort after all others by it.
    case untimedLast
    /// It refuses requests for more than a few rows.
    case refusesLargePages
    /// The size of its pages varies.
    case variesPages
    /// It fails on pages with more than a few rows.
    case failsLargePages
    /// Its rows are so large that a device accepts no answer with more than a few.
    case hasLargeRows
    /// It compares ids without case, and writes them in capitals.
    case capitalIDs
    /// It sorts ids without case, but compares them with case.
    case sortsWithoutCase
}

/// What the OData service of a story does otherwise than others, or what the devices are told of it. Each seed of such a
/// wire draws some.
public enum ServiceHabit: String, Sendable, Hashable, CaseIterable {
    /// Its rows have no property with the time of their last change.
    case hasNoTime
    /// Its entity tags are weak ones.
    case weakTags
    /// Its entity tags hold quotes and a percent escape.
    case escapedTags
    /// It answers changes with 204, whatever was asked for.
    case answersNothing
    /// Its answers of 204 hold no entity tag.
    case hidesTags
    /// It wants a condition with each change: 428.
    case wantsConditions
    /// It wants a token against forged requests with each change, and its cookie.
    case wantsToken
    /// It takes no batches in JSON.
    case refusesJSON
    /// Of a change set that failed it gives the reason alone.
    case failsSetsAtOnce
    /// Its tombstones have the older form.
    case oldTombstones
    /// It puts a delta link on each page, that of the last page without what changed meanwhile.
    case linksEveryPage
    /// Its delta links do not hold the filter.
    case forgetsFilter
    /// Its changes do not report rows that leave the filter.
    case hidesLeavers
    /// It reports each change twice.
    case repeatsChanges
    /// It answers delta links of before its restart with 400.
    case refusesOldLinks
    /// It answers delta links of before its restart with 404.
    case losesOldLinks
    /// It answers delta links of before its restart as if nothing had changed.
    case emptiesOldLinks
    /// It takes PATCH in the place of MERGE.
    case refusesMerge
    /// Its links are relative ones.
    case relativeLinks
    /// The devices do not read its description.
    case hasNoMetadata
    /// The devices send POST in the place of other methods.
    case tunnels
    /// The devices send whole rows.
    case putsUpdates
    /// The later pages of a first read report the rows that have gone since it began.
    case entombsAtOnce
    /// Its delta link, on the last page of a first read, is of the moment of that page.
    case linksLastMoment
}

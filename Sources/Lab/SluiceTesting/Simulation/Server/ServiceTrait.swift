/// A trait of a story's OData service, or a setting of the devices for it. Each seed with such a wire draws some.
public enum ServiceTrait: String, Sendable, Hashable, CaseIterable {
    /// Its rows have no property with the time of their last change.
    case hasNoTime
    /// Its entity tags are weak ones.
    case weakTags
    /// Its entity tags hold quotes and a percent escape.
    case escapedTags
    /// It answers changes with 204, whatever the device prefers.
    case answersNothing
    /// Its answers of 204 hold no entity tag.
    case hidesTags
    /// It requires a condition with each change: 428.
    case wantsConditions
    /// It requires a token against forged requests with each change, and its cookie.
    case wantsToken
    /// It accepts no batches in JSON.
    case refusesJSON
    /// For a failed change set it returns only the reason.
    case failsSetsAtOnce
    /// Its tombstones have the older form.
    case oldTombstones
    /// It puts a delta link on each page; the last page's link leaves out the changes since the first page.
    case linksEveryPage
    /// Its delta links do not include the filter.
    case forgetsFilter
    /// Its changes do not report rows that leave the filter.
    case hidesLeavers
    /// It reports each change twice.
    case repeatsChanges
    /// It answers delta links from before its restart with 400.
    case refusesOldLinks
    /// It answers delta links from before its restart with 404.
    case losesOldLinks
    /// It answers delta links from before its restart as if nothing had changed.
    case emptiesOldLinks
    /// It accepts PATCH instead of MERGE.
    case refusesMerge
    /// Its links are relative ones.
    case relativeLinks
    /// The devices do not read its description.
    case hasNoMetadata
    /// The devices send POST instead of other methods.
    case tunnels
    /// The devices send whole rows.
    case putsUpdates
    /// The later pages of a first read report the rows deleted since it began.
    case entombsAtOnce
    /// Its delta link, on the last page of a first read, counts from the time of that page.
    case linksLastMoment
}

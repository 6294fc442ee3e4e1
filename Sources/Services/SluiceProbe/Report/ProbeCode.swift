extension ProbeFinding {
    /// The kinds of faults that a probe names. Codes may be added.
    public enum Code: String, Sendable, Hashable, Codable, CaseIterable {
        // Answers at all.
        case webPage, redirects, brokenAnswers, failing, errorBesideRows, metadataUnread, credentialsEchoed, slow
        case incomplete
        // Lists.
        case orderIgnored, topIgnored, skipRefused, skipIgnored, filterRefused, filterIgnored, filterMisses
        case countMissing, countWrong, deletedListed, deletedRefused, idsComparedOtherwise
        // Pages and their links.
        case pagesLimited, pagesFail, pagesOverlap, linksElsewhere, linksCircle, linksLost
        // Rows and ids.
        case rowsUnfit, rowsRepeated, rowsMove, rowsUntimed, idsTwins, idsIntegers, idsFolded, namesTwins
        case versionMissing
        case lookupMissing, lookupDiffers, missingFound, missingFails
        // Times and clocks.
        case tiesUnsorted, tiesShuffled, timesMisread, timesRounded, timesAhead, timesZoneless
        case clockMissing, clockOff, clockSet, clockAhead
        // Tags.
        case tagsWeak, tagsSuffixed, tagsDiffer, tagsList
        // Pulls.
        case pullFails, pullNeverSettles, reconcileDiffers, changesMissed, deletesMissed
        // Changes, on a scratch table.
        case insertRefused, insertOverwrites, insertMisjudged, idReplaced, conflictBare, readsLag
        case updateRefused, updateIgnored, updateReplaces, versionUnchanged, timeUnchanged, answersNothing, answersOther
        case conditionIgnored, conditionMisjudged, preconditionBare
        case deleteRefused, deleteIgnored, deleteConditionIgnored, deleteUntraced, deleteTimeUnchanged, undeleteRefused
        case scratchLeft
        // Values, repeats and batches, on a scratch table.
        case textsAltered, numbersRounded, numbersAsTexts, nullIgnored, datesAltered, halfEmojiKept
        case repeatTwice, batchRefused, batchBroken, batchNotAtomic
    }
}

extension ProbeFinding.Code {
    /// The findings that follow from this one.
    var implied: Set<Self> {
        switch self {
        case .skipIgnored: [.pagesOverlap]
        case .filterIgnored: [.timesRounded, .idsComparedOtherwise]
        default: []
        }
    }

    /// The constant texts of the code.
    var advice: ProbeFinding.Advice { reading ?? listing ?? timing ?? changing ?? keeping }
}

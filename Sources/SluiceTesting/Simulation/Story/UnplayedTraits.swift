/// The traits that no seed draws yet, because the engine does not live up to them: names of faults, habits and settings.
enum UnplayedTraits {
    static let names: Set<String> = [
        "staleRead", "errorBesideRows", "staysBusy", "tableFails", "keepsAuthors", "untimedFirst", "untimedLast",
        "refusesLargePages", "variesPages", "failsLargePages", "hasLargeRows", "capitalIDs", "sortsWithoutCase",
        "reconsiders", "tidiesPages", "entombsAtOnce", "linksLastMoment",
    ]
}

/// The traits that no seed draws yet, because the engine does not live up to them: names of faults, habits and settings.
enum UnplayedTraits {
    static let names: Set<String> = []
}

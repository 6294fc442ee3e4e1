internal import ArgumentParser

/// How many records an import writes in one transaction.
enum ImportStep: Hashable, ExpressibleByArgument {
    /// So many, one at least.
    case records(Int)
    case all

    init?(argument: String) {
        if argument == "all" || argument == "0" {
            self = .all
        } else if let count = Int(argument), count > 0 {
            self = .records(count)
        } else {
            return nil
        }
    }

    var defaultValueDescription: String {
        switch self {
        case .records(let count): String(count)
        case .all: "all"
        }
    }
}

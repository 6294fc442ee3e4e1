internal import SluiceBase

/// The parts of a record that a `$select` returns.
enum CoverageColumns {
    case all
    /// The parts at these paths.
    case some([[PropertyName]])

    /// The parts that a defining request has loaded. A partly selected collection counts as not loaded.
    init(loadedBy items: [ODataOptions.SelectItem]) {
        if items.isEmpty || items.contains(where: { $0.path == [.all] }) {
            self = .all
            return
        }
        self = .some(
            items.compactMap { item in
                guard item.options == ODataOptions() else { return nil }
                return item.names
            } + [["id"]])
    }

    /// The parts that a request needs; nil if it selects something other than properties.
    init?(neededBy items: [ODataOptions.SelectItem]) {
        var paths: [[PropertyName]] = []
        for item in items {
            if item.path == [.all] {
                self = .all
                return
            }
            guard let names = item.names else { return nil }
            paths.append(names)
        }
        self = items.isEmpty ? .all : .some(paths)
    }

    /// Returns the needed paths that were not loaded.
    func missing(from loaded: CoverageColumns) -> [String] {
        guard case .some(let there) = loaded else { return [] }
        guard case .some(let needed) = self else { return ["every property"] }
        return needed.filter { path in !there.contains { path.starts(with: $0) } }
            .map { $0.map(\.text).joined(separator: "/") }
    }

    /// Whether the whole property was loaded.
    func has(_ name: PropertyName) -> Bool {
        switch self {
        case .all: true
        case .some(let paths): paths.contains([name])
        }
    }
}

extension ODataOptions.SelectItem {
    /// The path, if it consists of properties only.
    fileprivate var names: [PropertyName]? {
        var names: [PropertyName] = []
        for step in path {
            guard case .property(let name) = step else { return nil }
            names.append(name)
        }
        return names
    }
}

internal import SluiceCore
internal import SluiceOData

/// What must hold for any bytes as a service's description of itself: whatever is made of it is made in the end.
enum MetadataFuzz {
    static func check(_ input: [UInt8]) throws(FuzzFinding) {
        let model: EdmModel
        do throws(SluiceError) {
            model = try EdmModel(document: input)
        } catch {
            return try demand(error.code == .brokenProtocol || error.code == .tooLarge, "the error is \(error.code)")
        }
        try demand(!model.text.isEmpty, "there is no text")
        let names = Set(model.sets.map(\.name))
        for table in model.tables { try demand(names.contains(table.name), "a table \(table.name) of no set") }
        try demand(model.localDrafts.isSubset(of: names), "a draft of no set")
        try demand(names.isSuperset(of: model.clientOnly.keys), "a column of no set")
        // No name of the service's leaves its literal or its comment.
        for line in model.swift.split(separator: "\n", omittingEmptySubsequences: false) {
            let isKnown = ["import ", "/// A row of ", "struct ", "    ", "}"].contains { line.hasPrefix($0) }
            try demand(line.isEmpty || isKnown, "a line of Swift is \(line)")
        }
    }
}

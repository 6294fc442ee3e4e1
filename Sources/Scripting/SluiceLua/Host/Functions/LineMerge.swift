/// Merges three texts by lines: a change of only one side is taken from that side.
struct LineMerge {
    typealias Line = ArraySlice<UInt8>

    let client: [Line]
    let server: [Line]
    let base: [Line]

    /// Returns the merged lines; nil if both sides changed the same ones.
    ///
    /// - Parameter charge: called with the number of table cells before they are filled.
    func merged(charge: (Int) throws -> Void) rethrows -> [Line]? {
        let toClient = try LineMatch(base, client).matches(charge: charge)
        let toServer = try LineMatch(base, server).matches(charge: charge)
        var output: [Line] = []
        var (inBase, inClient, inServer) = (0, 0, 0)
        while true {
            // The next line that all three texts have.
            var place = inBase
            while place < base.count, toClient[place] == nil || toServer[place] == nil { place += 1 }
            let isEnd = place == base.count
            let clientEnd = isEnd ? client.count : toClient[place] ?? client.count
            let serverEnd = isEnd ? server.count : toServer[place] ?? server.count
            let old = base[inBase..<place]
            let (ours, theirs) = (client[inClient..<clientEnd], server[inServer..<serverEnd])
            if ours.elementsEqual(old) || ours.elementsEqual(theirs) {
                output += theirs
            } else if theirs.elementsEqual(old) {
                output += ours
            } else {
                return nil
            }
            if isEnd { return output }
            output.append(base[place])
            (inBase, inClient, inServer) = (place + 1, clientEnd + 1, serverEnd + 1)
        }
    }
}

/// The common lines of two texts, in order: a longest common subsequence.
///
/// Lines are compared as numbers. A line of only one text cannot match. The common beginning and end always match, so
/// the table covers only the lines between them.
struct LineMatch {
    private let count: Int
    /// The positions of shared lines with their numbers, the common beginning and end included.
    private var left: [(place: Int, line: Int)] = []
    private var right: [(place: Int, line: Int)] = []

    init(_ base: [LineMerge.Line], _ other: [LineMerge.Line]) {
        count = base.count
        var numbers: [LineMerge.Line: Int] = [:]
        for line in base where numbers[line] == nil { numbers[line] = numbers.count }
        var isShared = [Bool](repeating: false, count: numbers.count)
        for (place, line) in other.enumerated() {
            guard let number = numbers[line] else { continue }
            isShared[number] = true
            right.append((place, number))
        }
        for (place, line) in base.enumerated() {
            if let number = numbers[line], isShared[number] { left.append((place, number)) }
        }
    }

    /// Returns the position in the other text for each line of the base.
    func matches(charge: (Int) throws -> Void) rethrows -> [Int?] {
        var found = [Int?](repeating: nil, count: count)
        var (from, leftEnd, rightEnd) = (0, left.count, right.count)
        while from < leftEnd, from < rightEnd, left[from].line == right[from].line {
            found[left[from].place] = right[from].place
            from += 1
        }
        while leftEnd > from, rightEnd > from, left[leftEnd - 1].line == right[rightEnd - 1].line {
            (leftEnd, rightEnd) = (leftEnd - 1, rightEnd - 1)
            found[left[leftEnd].place] = right[rightEnd].place
        }
        let (rows, columns) = (leftEnd - from, rightEnd - from)
        if rows == 0 || columns == 0 { return found }
        try charge(rows * columns)
        // The number of common lines after a line of each text.
        var lengths = [UInt16](repeating: 0, count: (rows + 1) * (columns + 1))
        let (lines, others) = (left[from..<leftEnd].map(\.line), right[from..<rightEnd].map(\.line))
        lengths.withUnsafeMutableBufferPointer { lengths in
            for row in stride(from: rows - 1, through: 0, by: -1) {
                let (start, next, line) = (row * (columns + 1), (row + 1) * (columns + 1), lines[row])
                for column in stride(from: columns - 1, through: 0, by: -1) {
                    lengths[start + column] =
                        line == others[column]
                        ? lengths[next + column + 1] + 1 : max(lengths[next + column], lengths[start + column + 1])
                }
            }
        }
        var (row, column) = (0, 0)
        while row < rows, column < columns {
            if lines[row] == others[column] {
                found[left[from + row].place] = right[from + column].place
                (row, column) = (row + 1, column + 1)
            } else if lengths[(row + 1) * (columns + 1) + column] >= lengths[row * (columns + 1) + column + 1] {
                row += 1
            } else {
                column += 1
            }
        }
        return found
    }
}

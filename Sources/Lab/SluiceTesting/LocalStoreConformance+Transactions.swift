internal import SluiceCore

extension LocalStoreConformance {
    private struct Stop: Error {}

    static let transactions: [Check] = [
        Check("a transaction sees its own writes, and leaves nothing if it throws") { store in
            try await store.write { try $0.put(["id": "1", "n": 1], in: "t") }
            do {
                try await store.write { writer in
                    try writer.put(["id": "1", "n": 2], in: "t")
                    try writer.put(["id": "2"], in: "t")
                    try writer.put(["id": "3"], in: "made inside")
                    try expectSame(try writer.record("1", in: "t"), ["id": "1", "n": 2], "inside the transaction")
                    try expect(
                        try writer.count(matching: TableQuery("t")) == 2, "a transaction does not see its records")
                    try writer.delete(["2"], from: "t")
                    try expect(
                        try writer.count(matching: TableQuery("t")) == 1, "a transaction does not see its deletion")
                    throw Stop()
                }
                throw ConformanceFailure("the body's error was not thrown")
            } catch is Stop {}
            try await roundTrip([["id": "9"]], in: "made inside", store)
            try await store.read { reader in
                try expectSame(try reader.record("1", in: "t"), ["id": "1", "n": 1], "after the rollback")
                try expect(try reader.count(matching: TableQuery("t")) == 1, "a record is left of the rollback")
                try expect(
                    try reader.count(matching: TableQuery("made inside")) == 1, "a record is left of the rollback")
            }
        },
        Check("a transaction goes on after an error that its body caught") { store in
            try await store.write { writer in
                try writer.put(["id": "1"], in: "t")
                do { try writer.put(["id": 1], in: "t") } catch {}
                do { _ = try writer.records(matching: TableQuery("t", top: -1)) } catch {}
                try writer.put(["id": "2"], in: "t")
            }
            let count = try await store.read { try $0.count(matching: TableQuery("t")) }
            try expect(count == 2, "expected 2 records, found \(count)")
        },
        Check("readers see one state, whole, beside a writer") { store in
            try await store.write { writer in
                for number in 0..<20 { try writer.put(["id": JSON("\(number)"), "round": 0], in: "t") }
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    for round in 1...40 {
                        try await store.write { writer in
                            for number in 0..<20 {
                                try writer.put(["id": JSON("\(number)"), "round": JSON(round)], in: "t")
                            }
                        }
                    }
                }
                for _ in 0..<8 {
                    group.addTask {
                        for _ in 0..<30 {
                            try await store.read { reader in
                                let first = try reader.records(matching: TableQuery("t"))
                                let second = try reader.records(matching: TableQuery("t"))
                                try expect(Set(first.map { $0["round"] }).count == 1, "a reader saw half a transaction")
                                try expect(first == second, "a reader saw two states")
                                try expect(first.count == 20, "a reader saw \(first.count) records of 20")
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
        },
        Check("many writers lose no update") { store in
            try await store.write { try $0.put(["id": "n", "value": 0], in: "t") }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<40 {
                    group.addTask {
                        try await store.write { writer in
                            let value = try writer.record("n", in: "t")?["value"]?.int ?? 0
                            try writer.put(["id": "n", "value": JSON(value + 1)], in: "t")
                        }
                    }
                }
                try await group.waitForAll()
            }
            let value = try await store.read { try $0.record("n", in: "t") }?["value"]
            try expect(value == 40, "expected 40 updates, found \(value ?? .null)")
        },
        Check("what a body returns is what its transaction returns") { store in
            let written = try await store.write { writer -> Int in
                try writer.put(["id": "1"], in: "t")
                return 17
            }
            let read = try await store.read { try $0.record("1", in: "t")?["id"]?.string }
            try expect(written == 17 && read == "1", "found \(written) and \(read ?? "nothing")")
        },
        Check("a closed store says so") { store in
            try await store.close()
            try await store.close()
            try await expectError(.storeClosed, "reading") { try await store.read { _ in } }
            try await expectError(.storeClosed, "writing") { try await store.write { _ in } }
            try await expectError(.storeClosed, "declaring") { try await store.define([TableSchema("t")]) }
        },
    ]
}

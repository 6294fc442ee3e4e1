import Dispatch
import Foundation
import SluiceCore
import Testing

@testable import SluiceSQLite

@Suite("A store for each user")
struct UserStoresTests {
    private let folder: TemporaryFolder
    private let anna = StoreKey.same(1)
    private let ben = StoreKey.same(2)

    init() throws { folder = try TemporaryFolder() }

    private func users() throws -> UserStores { try UserStores(folder: folder.file("users")) }

    /// Anna's store with a change that waits.
    private func write(_ store: SQLiteStore) async throws {
        let context = try await SyncContext(store: store)
        try await context.table("todos").insert(["id": "1", "text": "canary"])
    }

    private func files() throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: folder.file("users"))
    }

    @Test("what one has not sent waits, for that one only")
    func seals() async throws {
        let users = try users()
        let annas = try await users.signIn("anna", with: .key(anna))
        try await write(annas)
        let bens = try await users.signIn("ben", with: .key(ben))
        #expect(await users.user == "ben")
        await #expect(throws: SluiceError.self) { try await annas.read { _ in } }
        #expect(try await bens.read { try $0.count(matching: TableQuery("todos")) } == 0)
        let error = await #expect(throws: SluiceError.self) { _ = try await users.signIn("anna", with: .key(ben)) }
        #expect(error?.code == .storeKeyRefused)
        #expect(await users.user == nil, "nobody is signed in now")
        let again = try await users.signIn("anna", with: .key(anna))
        #expect(try await SyncContext(store: again).queue.operations().map(\.recordID) == ["1"])
        try await users.seal()
    }

    @Test("another opening of the folder finds the same stores, and no name of a user is to be seen")
    func names() async throws {
        let first = try users()
        try await write(first.signIn("anna / ../é", with: .passphrase(StorePassphrase("correct horse"))))
        try await first.seal()
        let second = try users()
        #expect(try await second.hasStore(of: "anna / ../é"))
        #expect(try await !second.hasStore(of: "anna"))
        let store = try await second.signIn("anna / ../é", with: .passphrase(StorePassphrase("correct horse")))
        #expect(try await store.read { try $0.count(matching: TableQuery("todos")) } == 1)
        try await second.seal()
        #expect(try files().allSatisfy { !$0.contains("anna") })
        for file in try files() {
            let path = folder.file("users/\(file)")
            let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            #expect(mode == 0o600 || mode == 0o700, "\(file)")
        }
    }

    @Test("who signs out takes the key along, except for copies that have the random bytes too")
    func shreds() async throws {
        let users = try users()
        try await write(users.signIn("anna", with: .key(anna)))
        let refused = await #expect(throws: SluiceError.self) { try await users.signOut("anna") }
        #expect(refused?.code == .operationsPending)
        try await users.seal()
        let sealed = await #expect(throws: SluiceError.self) { try await users.signOut("anna") }
        #expect(sealed?.code == .operationsPending, "of who is not signed in it cannot be told")
        let store = try #require(try files().first { $0.hasSuffix("store.db") })
        let original = folder.file("users/\(store)")
        // As a backup has them, and the files themselves under names that signing out does not know.
        let (copy, kept) = (folder.file("copy.db"), folder.file("kept.db"))
        for suffix in ["", ".salt"] {
            try FileManager.default.copyItem(atPath: original + suffix, toPath: copy + suffix)
            #expect(link(original + suffix, kept + suffix) == 0)
        }
        try await users.signOut("anna", unsent: .discard)
        #expect(try files().allSatisfy { !$0.contains("store.db") })
        #expect(try await !users.hasStore(of: "anna"))
        // Of the files themselves the random bytes are gone, and with them the key.
        #expect(try Data(contentsOf: URL(fileURLWithPath: kept + ".salt")) == Data(count: 32))
        #expect(FileManager.default.contentsEqual(atPath: kept, andPath: copy))
        #expect(try code(opening: kept, UserSalt.key(.key(anna), beside: kept)) == .storeKeyRefused)
        // Her secret alone opens nothing; with the old bytes it opens a copy.
        #expect(code(opening: copy, anna) == .storeKeyRefused)
        let alone = folder.file("alone.db")
        try FileManager.default.copyItem(atPath: copy, toPath: alone)
        let missing = #expect(throws: SluiceError.self) { try UserSalt.key(.key(anna), beside: alone) }
        #expect(missing?.code == .storeCorrupt)
        let opened = try SQLiteStore(path: copy, encryption: .key(UserSalt.key(.key(anna), beside: copy)))
        #expect(try await opened.read { try $0.count(matching: TableQuery("todos")) } == 1)
        try await opened.close()
        // Nor does it open a copy in the place of her new store.
        _ = try await users.signIn("anna", with: .key(anna))
        try await users.seal()
        let place = folder.file("users/\(try #require(try files().first { $0.hasSuffix("store.db") }))")
        try FileManager.default.removeItem(atPath: place)
        try FileManager.default.copyItem(atPath: copy, toPath: place)
        let error = await #expect(throws: SluiceError.self) { _ = try await users.signIn("anna", with: .key(anna)) }
        #expect(error?.code == .storeKeyRefused)
    }

    /// The code of the error that opening throws.
    private func code(opening path: String, _ key: StoreKey) -> SluiceError.Code? {
        do {
            _ = try SQLiteStore(path: path, encryption: .key(key))
            return nil
        } catch {
            return (error as? SluiceError)?.code
        }
    }

    @Test("where the random bytes are gone that names are made of, nobody is taken for a new user")
    func lostNames() async throws {
        let first = try users()
        try await write(first.signIn("anna", with: .key(anna)))
        try await first.seal()
        let salt = folder.file("users/users.salt")
        let away = folder.file("users.salt")
        try FileManager.default.moveItem(atPath: salt, toPath: away)
        let before = try files().sorted()
        let second = try users()
        for user in ["anna", "ben"] {
            let calls: [@Sendable () async throws -> Void] = [
                { _ = try await second.signIn(user, with: .key(self.anna)) },
                { _ = try await second.hasStore(of: user) },
                { try await second.signOut(user, unsent: .discard) },
            ]
            for call in calls {
                let error = await #expect(throws: SluiceError.self) { try await call() }
                #expect(error?.code == .storeCorrupt)
            }
        }
        #expect(try files().filter { !$0.hasSuffix("-lease") }.sorted() == before.filter { !$0.hasSuffix("-lease") })
        try FileManager.default.moveItem(atPath: away, toPath: salt)
        let store = try await second.signIn("anna", with: .key(anna))
        #expect(try await store.read { try $0.count(matching: TableQuery("todos")) } == 1)
        // Without a store there is nothing to lose.
        try await second.signOut("anna", unsent: .discard)
        try FileManager.default.removeItem(atPath: salt)
        _ = try await second.signIn("anna", with: .key(anna))
        try await second.seal()
    }

    @Test("signing out takes the users' lock before the store's, as signing in does")
    func lockOrder() async throws {
        let users = try users()
        let store = try await users.signIn("anna", with: .key(anna))
        let (started, start) = AsyncStream.makeStream(of: Void.self)
        let gate = DispatchSemaphore(value: 0)
        // As another process would that has the store's lock for a while.
        async let writing: Void = store.write { _ in
            start.yield()
            _ = gate.wait(timeout: .now() + 20)
        }
        for await _ in started { break }
        async let signingOut: Void = users.signOut("anna", unsent: .discard)
        // Which waits for that, and meanwhile nobody signs in.
        let lease = LeaseFile(path: folder.file("users/users-lease"))
        var held = 0
        for _ in 0..<300 where held < 20 {
            if let mine = try lease.take() {
                mine.release()
                held = 0
            } else {
                held += 1
            }
            try await Task.sleep(for: .milliseconds(10))
        }
        gate.signal()
        #expect(held == 20)
        try await writing
        try await signingOut
        #expect(try await !users.hasStore(of: "anna"))
        #expect(try lease.take() != nil, "it is given back")
    }

    @Test("signing in and out at the same time, from two openings of the folder, wait for each other in no circle")
    func twoOpenings() async throws {
        let (first, second) = (try users(), try users())
        let anna = self.anna
        let errors = await withTaskGroup(of: [SluiceError?].self) { group in
            for users in [first, second] {
                group.addTask {
                    var errors: [SluiceError?] = []
                    for _ in 0..<10 {
                        // One may take the store away from under the other, which is told so.
                        do {
                            _ = try await users.signIn("anna", with: .key(anna))
                            try await users.signOut("anna", unsent: .discard)
                        } catch {
                            errors.append(error as? SluiceError)
                        }
                    }
                    return errors
                }
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
        #expect(errors.allSatisfy { $0 != nil && $0?.code != .storeBusy }, "\(errors)")
        for users in [first, second] { try await users.seal() }
    }

    @Test("whoever waits for another to sign in waits no longer when cancelled")
    func cancelled() async throws {
        let users = try users()
        let tasks = (0..<8).map { number in
            Task { try await users.signIn("user \(number)", with: .key(anna)) }
        }
        for task in tasks.dropFirst() { task.cancel() }
        _ = try await tasks[0].value
        for task in tasks.dropFirst() {
            let result = await task.result
            if case .failure(let error) = result { #expect((error as? SluiceError)?.code == .cancelled) }
        }
        let last = try await users.signIn("anna", with: .key(anna))
        try await write(last)
        try await users.seal()
    }

    @Test("who signs in at the same time gets a store, and only the last one is open")
    func atOnce() async throws {
        let users = try users()
        try await write(users.signIn("anna", with: .key(anna)))
        let stores = try await withThrowingTaskGroup(of: SQLiteStore.self) { group in
            for _ in 0..<4 {
                group.addTask { try await users.signIn("anna", with: .key(self.anna)) }
                group.addTask { try await users.signIn("ben", with: .key(self.ben)) }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        var open = 0
        for store in stores where (try? await store.read { try $0.count(matching: TableQuery("todos")) }) != nil {
            open += 1
        }
        #expect(open == 1)
        try await users.seal()
    }

    @Test("signing out gives up nothing that was acknowledged meanwhile, and can be said twice")
    func signOutRace() async throws {
        let users = try users()
        for round in 0..<8 {
            let store = try await users.signIn("anna", with: .key(anna))
            let context = try await SyncContext(store: store)
            async let written: Bool = {
                for n in 0..<50 {
                    guard (try? await context.table("todos").insert(["id": JSON("\(round)-\(n)")])) != nil else {
                        return n > 0
                    }
                }
                return true
            }()
            let isOut = (try? await users.signOut("anna")) != nil
            let isWritten = await written
            #expect(!(isOut && isWritten), "what was written is gone")
            try await users.signOut("anna", unsent: .discard)
            try await users.signOut("anna", unsent: .discard)
        }
        #expect(try files().filter { $0.contains("store") } == [])
    }

    @Test("another spelling of a name is another user")
    func spelling() async throws {
        let users = try users()
        try await write(users.signIn("\u{e9}", with: .key(anna)))
        _ = try await users.signIn("e\u{301}", with: .key(ben))
        let error = await #expect(throws: SluiceError.self) { try await users.signOut("\u{e9}") }
        #expect(error?.code == .operationsPending)
        #expect(try await users.hasStore(of: "\u{e9}"))
        try await users.seal()
    }

    @Test("signing out that was interrupted is ended by the next signing in")
    func interrupted() async throws {
        let users = try users()
        try await write(users.signIn("anna", with: .key(anna)))
        try await users.seal()
        let salt = folder.file("users/\(try #require(try files().first { $0.hasSuffix("store.db.salt") }))")
        try Data(count: 32).write(to: URL(fileURLWithPath: salt))
        #expect(try await !users.hasStore(of: "anna"))
        let store = try await users.signIn("anna", with: .key(anna))
        #expect(try await store.read { try $0.count(matching: TableQuery("todos")) } == 0)
        try await users.seal()
    }
}

extension StoreKey {
    fileprivate static func same(_ byte: UInt8) -> StoreKey {
        do { return try StoreKey(repeatElement(byte, count: byteCount)) } catch { preconditionFailure("\(error)") }
    }
}

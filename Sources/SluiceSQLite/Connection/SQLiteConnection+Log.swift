internal import CSQLite

extension SQLiteConnection {
    /// Notes the length of the write-ahead log after each commit. Turning automatic checkpoints off must come first,
    /// for it takes the hook's place.
    func watchLog() {
        _ = api.pointee.wal_hook(
            handle,
            { context, _, _, pages in
                context?.assumingMemoryBound(to: Int32.self).pointee = pages
                return Int32(CSQLITE_OK)
            }, logLength)
    }

    /// The length of the log in pages after the latest commit of this connection.
    var logPages: Int { Int(logLength.pointee) }

    /// Checkpoints, and says how long the log is and how much of it is in the file. A failure moves nothing and loses
    /// nothing: the log stays, and the next checkpoint takes it.
    func checkpoint(_ mode: Int32) -> (length: Int, moved: Int) {
        var length: Int32 = -1
        var moved: Int32 = -1
        let code = api.pointee.wal_checkpoint_v2(handle, nil, mode, &length, &moved)
        return code == Int32(CSQLITE_OK) ? (Int(length), Int(moved)) : (.max, 0)
    }
}

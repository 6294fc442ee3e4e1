internal import Foundation

/// Says for people why a file cannot be read: the errors of the system are for programs.
package enum UnreadableFile {
    /// Returns the reason, for the end of a sentence.
    package static func reason(_ path: String) -> String {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else { return "there is none" }
        if isFolder.boolValue { return "it is a folder" }
        return FileManager.default.isReadableFile(atPath: path) ? "reading it failed" : "this user may not read it"
    }
}

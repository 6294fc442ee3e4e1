internal import Foundation

/// Says why a file cannot be read, for people: what the system's own errors say is for programs.
package enum UnreadableFile {
    /// The reason, for the end of a sentence.
    package static func reason(_ path: String) -> String {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else { return "there is none" }
        if isFolder.boolValue { return "it is a folder" }
        return FileManager.default.isReadableFile(atPath: path) ? "reading it failed" : "this user may not read it"
    }
}

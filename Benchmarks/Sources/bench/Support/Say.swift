internal import Glibc

/// Prints a line at once, into a pipe too.
func say(_ line: String) {
    print(line)
    fflush(nil)
}

internal import CJansson
internal import SluiceCore

/// Comparison by identity: a value that a script did not touch is the same object, so its content is not compared.
extension JSON {
    /// Whether this object has a different value under the name.
    func hasOther(_ name: StaticString, than other: JSON) -> Bool {
        let (mine, others) = (handle, other.handle)
        return withExtendedLifetime((mine, others)) {
            let (left, right) = (mine.member(name), others.member(name))
            return left != right && json_equal(left, right) == 0
        }
    }

    /// Returns the elements of this list, each with the index of the identical one in another list.
    func places(in other: JSON) -> [(element: JSON, place: Int?)] {
        let (mine, others) = (handle, other.handle)
        return withExtendedLifetime((mine, others)) {
            let old = others.elementPointers
            return mine.elementPointers.map { element in
                (JSON(JSONHandle(sharingRaw: element)), old.firstIndex(of: element))
            }
        }
    }
}

extension JSONHandle {
    private var pointer: UnsafeMutablePointer<json_t>? {
        UnsafeMutableRawPointer(mutating: raw)?.assumingMemoryBound(to: json_t.self)
    }

    fileprivate func member(_ name: StaticString) -> UnsafeMutablePointer<json_t>? {
        json_object_getn(pointer, name.characters, name.utf8CodeUnitCount)
    }

    fileprivate var elementPointers: [UnsafeMutablePointer<json_t>] {
        (0..<json_array_size(pointer)).compactMap { json_array_get(pointer, $0) }
    }
}

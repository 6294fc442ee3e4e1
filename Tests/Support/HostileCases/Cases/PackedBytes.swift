/// Packed bodies that unpack to far more than they are, made bit by bit: no packer would.
enum PackedBytes {
    /// Deflate (RFC 1951): one block of fixed codes; a space, and then over and over "258 of what stood one byte
    /// before", of which eight take 13 bytes.
    private static let start: [UInt8] = {
        var writer = BitWriter()
        // Last block, fixed codes.
        writer.write(1, 1)
        writer.write(1, 2)
        // The literal of a space: 8 bits, 0x30 + 0x20, most significant first.
        writer.writeCode(0x50, 8)
        // Up to the next whole byte, with matches: 11 + 13 n bits are a multiple of 8 for n = 1.
        writer.writeMatch()
        return writer.bytes
    }()
    private static let matches: [UInt8] = {
        var writer = BitWriter()
        for _ in 0..<8 { writer.writeMatch() }
        return writer.bytes
    }()
    /// The code of the end, 7 bits.
    private static let end: [UInt8] = [0]

    /// The acts that send spaces as a deflate stream, which `wrap` opens and closes.
    private static func acts(megabytes: Int, opening: [UInt8], closing: [UInt8]) -> (acts: [HostileAct], count: Int) {
        let times = megabytes * (1 << 20) / (8 * 258) + 1
        let (first, last) = (opening + start, end + closing)
        return (
            [.send(first), .repeated(matches, times: times), .send(last)],
            first.count + matches.count * times + last.count
        )
    }

    /// Spaces as gzip (RFC 1952). Its checksum is wrong, which shows only at the end.
    static func gzip(megabytes: Int) -> (acts: [HostileAct], count: Int) {
        acts(
            megabytes: megabytes, opening: [31, 139, 8, 0, 0, 0, 0, 0, 2, 255],
            closing: [0, 0, 0, 0, 0, 0, 0, 0])
    }

    /// Spaces as zlib (RFC 1950), which is what HTTP calls deflate.
    static func zlib(megabytes: Int) -> (acts: [HostileAct], count: Int) {
        acts(megabytes: megabytes, opening: [0x78, 0x9C], closing: [0, 0, 0, 0])
    }

    /// Bytes as gzip, stored as they are.
    static func stored(_ bytes: [UInt8], checksum: UInt32? = nil) -> [UInt8] {
        var packed: [UInt8] = [31, 139, 8, 0, 0, 0, 0, 0, 0, 255]
        var rest = bytes[...]
        repeat {
            let block = rest.prefix(65_535)
            rest = rest.dropFirst(block.count)
            let count = UInt16(block.count)
            packed.append(rest.isEmpty ? 1 : 0)
            for value in [count, ~count] { packed += [UInt8(value & 255), UInt8(value >> 8)] }
            packed += block
        } while !rest.isEmpty
        for value in [checksum ?? Self.checksum(bytes), UInt32(truncatingIfNeeded: bytes.count)] {
            packed += (0..<4).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
        }
        return packed
    }

    /// CRC-32, as gzip wants it.
    private static func checksum(_ bytes: [UInt8]) -> UInt32 {
        var value: UInt32 = ~0
        for byte in bytes {
            value ^= UInt32(byte)
            for _ in 0..<8 { value = value & 1 == 1 ? value >> 1 ^ 0xEDB8_8320 : value >> 1 }
        }
        return ~value
    }
}

/// Writes bits, the least significant of a byte first, as deflate has them.
private struct BitWriter {
    var bytes: [UInt8] = []
    private var free = 0

    /// A number, its least significant bit first.
    mutating func write(_ value: UInt32, _ count: Int) {
        for bit in 0..<count {
            if free == 0 {
                bytes.append(0)
                free = 8
            }
            bytes[bytes.count - 1] |= UInt8(value >> bit & 1) << (8 - free)
            free -= 1
        }
    }

    /// A code, its most significant bit first.
    mutating func writeCode(_ code: UInt32, _ count: Int) {
        for bit in (0..<count).reversed() { write(code >> bit & 1, 1) }
    }

    /// 258 bytes like the one before: length code 285, distance code 0.
    mutating func writeMatch() {
        writeCode(0b1100_0101, 8)
        writeCode(0, 5)
    }
}

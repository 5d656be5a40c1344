"""Random damage to the bytes of a file."""

from random import Random

MAX_BLOCK = 200  # bytes that are damaged at once


def damage_bytes(content: bytes, random: Random) -> tuple[bytes, str]:
    """Return the content with damage, and what was done."""
    kind = random.choice(["flip", "truncate", "insert", "delete", "zero", "fill", "repeat", "number"])
    place = random.randrange(len(content) + 1)
    size = random.randint(1, MAX_BLOCK)
    before, block, after = content[:place], content[place : place + size], content[place + size :]
    match kind:
        case "flip":
            damaged = bytearray(content)
            for _ in range(random.randint(1, 8)):
                damaged[random.randrange(len(damaged))] ^= 1 << random.randrange(8)
            result = bytes(damaged)
        case "truncate":
            result = before
        case "insert":
            result = before + random.randbytes(size) + content[place:]
        case "delete":
            result = before + after
        case "zero":
            result = before + bytes(len(block)) + after
        case "fill":
            result = before + b"\xff" * len(block) + after
        case "repeat":
            result = before + block * random.randint(2, 50) + after
        case _:
            number = random.choice([0, 1, 0x7FFFFFFF, 0xFFFFFFFF, 0x80000000, 10**7])
            result = before + number.to_bytes(4, "little") + content[place + 4 :]
    return result, f"{kind} at {place}"

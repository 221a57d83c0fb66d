"""Few different row counts for matrix products whose number of rows depends on the text."""

#: Products of fewer rows go through other kernels, which differ in the last bit.
_LEAST = 16
#: Sizes between a power of two and the next.
_STEPS = 8


def padded_count(rows: int) -> int:
    """A row count not below `rows` for a product over rows that are independent of each other.

    Padded to at least 16, a row's result does not depend on the rows computed with it. And oneDNN,
    torch's library for products on CPUs, compiles a kernel for every shape that it has not seen:
    that costs more than the product, so shapes have to come back. At most an eighth is added
    (more below 64 rows).
    """
    step = max(_STEPS, (1 << max(0, rows - 1).bit_length()) // (2 * _STEPS))
    return max(_LEAST, -(-rows // step) * step)

"""How much memory this machine has."""

import os

_UNKNOWN = 8 * 2**30


def memory_of_machine() -> int:
    """The bytes of memory this machine has; 8 GiB where the system does not tell."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):  # not on this system
        return _UNKNOWN

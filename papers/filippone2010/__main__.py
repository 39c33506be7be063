"""`PYTHONPATH=papers python -m filippone2010 [--fast]`."""

from filippone2010 import make
from regenerating import regenerate

if __name__ == "__main__":
    regenerate("filippone2010", make)

"""`PYTHONPATH=papers python -m filippone2007 [--fast]`."""

from filippone2007 import make
from regenerating import regenerate

if __name__ == "__main__":
    regenerate("filippone2007", make)

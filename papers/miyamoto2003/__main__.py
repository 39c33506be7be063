"""`PYTHONPATH=papers python -m miyamoto2003 [--fast]`."""

from miyamoto2003 import make
from regenerating import regenerate

regenerate("miyamoto2003", make)

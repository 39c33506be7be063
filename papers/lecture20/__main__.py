"""`PYTHONPATH=papers python -m lecture20 [--fast]`."""

from lecture20 import make
from regenerating import regenerate

regenerate("lecture20", make)

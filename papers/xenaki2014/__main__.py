"""`PYTHONPATH=papers python -m xenaki2014 [--fast]`."""

from regenerating import regenerate
from xenaki2014 import make

regenerate("xenaki2014", make)

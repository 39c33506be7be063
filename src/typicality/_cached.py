"""A property that is computed once for each object, without a lock."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:  # type checkers know that one
    from functools import cached_property
else:

    class cached_property:  # noqa: N801 (a decorator)
        """Compute a value on first use and keep it in the `__dict__` of the object.

        That of :mod:`functools` in Python 3.11 holds one lock for all objects while it computes: a
        fork meanwhile leaves a child that waits for ever, and threads that fit different models
        wait for each other. Here two threads that ask the same object at once both compute.
        """

        def __init__(self, function):
            self._function = function
            self.__doc__ = function.__doc__

        def __set_name__(self, owner, name):
            self._name = name

        def __get__(self, instance, owner=None):
            if instance is None:
                return self
            value = vars(instance)[self._name] = self._function(instance)
            return value


__all__ = ["cached_property"]

"""Results of the code before the redesign, to compare the new code with.

``PYTHONPATH=tests python -m golden compare`` prints every difference. The folder is removed when
the core and the outer rooms are redesigned.
"""

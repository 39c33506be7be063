"""Compiled loops: the sweep over the rows of every input-space iteration, and kernel sums.

`jit` compiles and caches, `arithmetic` has exp and log that vectorise, `sweep` is the pass over all
rows with a membership rule. Kernel sums run over blocks of rows: `blocks` evaluates a kernel
between blocks, `pair_sums` sums over pairs of blocks, `point_sums` over the blocks near a point.
`products` multiplies a matrix that is kept.

The formulas themselves are not here. A rule or a kernel has a `compiled_form`: a named tuple with
its parameters, whose class has a static method `functions` that makes the compiled functions. It
stands in the same file as the array form. The loops choose the functions by the type of the named
tuple: numba keeps one compiled loop for each type in its cache, which a function handed over as an
argument would never reach.

Importing a module of this package imports numba, which takes a second, so other packages import
it inside a function, when compiled code is first used.
"""

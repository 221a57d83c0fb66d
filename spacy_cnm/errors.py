"""Every message that the package raises or warns with: a code, the offending value, the remedy.

One section a side (E0xx ids, E1xx modeling, E2xx pipeline, E3xx corpora, E4xx cli and workflow;
W... for warnings). Raise `CNMError(Errors.E001.format(...))`, warn with `CNMWarning`.
"""


class CNMError(ValueError):
    """An error of this package, with a message for the person who has to mend it."""


class CNMWarning(UserWarning):
    """A warning of this package: nothing is lost, but something deserves a look."""


class Errors:
    """Message templates, filled with `str.format`."""

    # --- ids ---------------------------------------------------------------------------------
    # --- modeling ----------------------------------------------------------------------------
    # --- pipeline ----------------------------------------------------------------------------
    # --- corpora -----------------------------------------------------------------------------
    # --- cli and workflow --------------------------------------------------------------------


class Warnings:
    """Warning templates, filled with `str.format`."""

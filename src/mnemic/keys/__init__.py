"""Keys: one master key in a file, and under it one data key for each subject."""

from __future__ import annotations

from mnemic.plugins.extras import brought_by

with brought_by("keys"):
    from mnemic.keys.data_key_folder import KeyFolder
    from mnemic.keys.master_key import MasterKeys

__all__ = ["KeyFolder", "MasterKeys"]

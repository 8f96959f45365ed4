"""Memory for coding agents, by itself: hooks that show what bears on a prompt and remember what the user said in it.

`mnemic install claude-code` writes the settings of the tool; a hook (`mnemic hook`) asks a process in the background,
which has the memory open; the memory is that of the repository in which the tool works.
"""

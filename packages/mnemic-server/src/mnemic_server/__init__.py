"""THE SERVICE: memory over HTTP, for whom the credential says.

`credentials` who may call, `problems` how errors look, `boundary` what is refused before anything is parsed, `routes`
one file for each kind of caller, `app` puts them together, `server` runs it.
"""

"""THE SERVICE: memory over HTTP, for the user that the credential represents.

`credentials` authenticates callers, `request_limits` refuses requests before they are parsed, `problems` renders
errors, `routes` has one file for each resource, `app` assembles them, `server` runs it.
"""

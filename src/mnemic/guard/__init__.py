"""Rules for what may be proposed, and what is allowed now.

The policy boundary checks the shape and the names of what a model proposes; a breach stops the run. The execution
boundary checks what the runtime grants; a breach is blocked and recorded, and the run goes on.
"""

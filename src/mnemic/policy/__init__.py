"""Guard: the policy boundary and the execution boundary.

The policy boundary checks the shape and the names of a model's proposals; a breach stops the run. The execution
boundary checks the runtime's grant; a breach is blocked and recorded, and the run continues.
"""

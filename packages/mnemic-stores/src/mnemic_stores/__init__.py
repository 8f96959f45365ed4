"""One room per database; none knows another. They share `codec` (values to JSON) and
`sync_transactions`.
"""

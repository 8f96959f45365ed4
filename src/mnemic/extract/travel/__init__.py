"""TRAVEL CONFIRMATIONS IN, RESERVATIONS OUT: flights, trains, stays and events, as schema.org writes them.

`read.reservations` tries what is most certain first: data that the sender has put into the document (JSON-LD,
microdata, a calendar entry, the code of a boarding pass), and only then the text, by labels, tables and patterns.
Nothing here knows any one airline or agency.
"""

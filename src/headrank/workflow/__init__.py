"""How do I get from a table, or from scores, to a report? ``headrank fit`` and ``evaluate --out`` in Python."""

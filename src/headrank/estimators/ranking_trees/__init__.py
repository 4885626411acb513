"""Which regions come first? TreeRank and ranking forests: trees whose leaves are ordered from best to worst."""

"""How many rows does it take?"""

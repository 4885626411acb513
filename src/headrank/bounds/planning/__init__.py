"""How many rows are needed?"""

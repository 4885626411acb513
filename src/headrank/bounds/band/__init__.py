"""Where is the whole curve, and what follows for every measure read from it?"""

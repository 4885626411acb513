"""What is guaranteed for a list of new rows?"""

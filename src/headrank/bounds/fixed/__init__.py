"""Intervals for one range or one point of the curve, chosen in advance, or for a mean over queries."""

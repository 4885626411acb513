"""Where is the whole curve? Confidence bands, and the intervals of measures read from them."""

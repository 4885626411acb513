"""How sure are we? Intervals, bands, sample sizes and thresholds that hold for any distribution."""

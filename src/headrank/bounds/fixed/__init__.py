"""What is certain of one range or one point of the curve, or of a mean over queries? Each chosen beforehand."""

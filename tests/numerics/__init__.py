"""Each number against an independent reference in NumPy and float64."""

"""Score against accuracy: a smooth calibration curve with its band."""

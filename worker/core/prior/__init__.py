"""What is believed before the first label, and learnt from all labels together."""

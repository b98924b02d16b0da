"""The dashboard beside the receiver: pages that update by themselves, metrics, health."""

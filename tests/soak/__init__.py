"""The fault run: real servers, scripted annotators, and all that may go wrong going wrong."""

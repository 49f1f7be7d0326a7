"""VLMEvalKit: dataset classes, registration, a safe command line."""

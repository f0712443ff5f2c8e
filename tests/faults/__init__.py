"""Tests that disturb the services while they run."""

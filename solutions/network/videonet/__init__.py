"""The video network: what it reads of a clip, and what it says about itself."""

"""Exchanges of filmed clips: mouth and eyes of other moments of the same clip, made and measured."""

"""Strings in, strings out: language, sentences, words, numbers, entities and refusals, Chinese and English first."""

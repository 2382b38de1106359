"""A loopback web page on which people label answers, and what their labels say about the judge."""

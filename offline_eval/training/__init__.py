"""Fine-tuning of encoders on the user's labels, and the public sets the default scorers were made from."""

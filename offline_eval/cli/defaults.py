"""Models that are taken when none is named; apart, so that help texts can name them without loading anything."""

DEFAULT_JUDGE = "smollm2-135m-instruct"
DEFAULT_ENCODERS = {
    "nli": "default-support",
    "answerability": "default-answerability",
    "embedder": "all-minilm-l6-v2",
}

import pytest

from offline_eval.text.language import detect_language


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("五味子", "zh"),
        ("使用 vLLM 运行 Llama 模型", "zh"),
        ("iPhone 15 多少钱", "zh"),
        ("今日は良い天気", "ja"),
        ("東京都庁の所在地", "ja"),
        ("안녕하세요", "ko"),
        ("Paris", "en"),
        ("The word 中国 means China", "en"),
        ("a naïve café owner", "en"),
        ("Bonjour tout le monde, je ne suis pas là pour vous", "other"),
        ("Der Hund ist nicht groß und die Katze ist klein", "other"),
        ("Привет мир", "other"),
        ("مرحبا بالعالم", "other"),
        ("123 + 4 = ?", "other"),
        ("", "other"),
    ],
)
def test_the_heavier_script_names_the_language(text: str, language: str) -> None:
    assert detect_language(text) == language

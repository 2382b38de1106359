"""GGUF file → safetensors folder, once, so that every engine loads the same verified weights."""

from pathlib import Path

from offline_eval.core.errors import ModelError


def gguf_to_safetensors(gguf_file: Path, out_folder: Path) -> None:
    """Dequantise a GGUF file to float32 safetensors with its tokenizer and chat template.

    float32 because a quantised GGUF has values that bfloat16 would round a second time.

    Args:
        gguf_file: The file to read.
        out_folder: Created; receives config.json, model.safetensors, tokenizer files and the chat template.

    Raises:
        ModelError: The file cannot be read, or the libraries for it are missing.
    """
    try:
        import torch
        from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig
    except ImportError as error:
        raise ModelError(
            f"{gguf_file.name}: converting GGUF needs the transformers extra ({error.name} is missing); "
            "install it with: pip install 'offline-eval[transformers]'"
        ) from error
    folder = str(gguf_file.parent)
    try:
        tokenizer = AutoTokenizer.from_pretrained(folder, gguf_file=gguf_file.name, trust_remote_code=False)
        model, loading = AutoModelForCausalLM.from_pretrained(
            folder,
            gguf_file=gguf_file.name,
            quantization_config=GgufConfig(dequantize=True),
            dtype=torch.float32,
            trust_remote_code=False,
            output_loading_info=True,
        )
    except Exception as error:  # parsers of foreign bytes raise anything
        raise ModelError(f"{gguf_file}: cannot be read as GGUF: {error}") from error
    missing = sorted(loading["missing_keys"])
    if missing:
        raise ModelError(f"{gguf_file}: {len(missing)} weights are missing, {missing[0]} first; get the whole file")
    out_folder.mkdir(parents=True, exist_ok=True)
    if getattr(model.config, "quantization_config", None) is not None:
        del model.config.quantization_config
    model.save_pretrained(out_folder, safe_serialization=True)
    tokenizer.save_pretrained(out_folder)

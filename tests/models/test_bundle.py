"""A bundle carries files unaltered or says which one is not; nothing in it is believed before it was checked."""

import io
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
from model_builders import write_model, write_wheel

from offline_eval.core.errors import DataError, ModelError, UsageError
from offline_eval.models.bundle import Wanted, create_bundle
from offline_eval.models.bundle_archive import check_archive
from offline_eval.models.bundle_format import path_fault
from offline_eval.models.bundle_install import install_bundle, verify_bundle
from offline_eval.models.importer import import_folder
from offline_eval.models.installed import find_installed, verify

Alter = Callable[[list[tuple[tarfile.TarInfo, bytes]]], list[tuple[tarfile.TarInfo, bytes]]]


@pytest.fixture
def wanted(tmp_path: Path, model_folder: Path) -> Wanted:
    """A model, a config, two wheels and a test set in Chinese."""
    import_folder(model_folder, name="tiny")
    sets = tmp_path / "差旅"
    (sets / "deep").mkdir(parents=True)
    (sets / "cases.jsonl").write_text('{"id": "a", "query": "年假有几天？"}\n', "utf-8")
    (sets / "deep" / "空.txt").write_text("")
    wheels = tmp_path / "wheels"
    write_wheel(wheels, {"tiny/model.gguf": b"x"})
    write_wheel(wheels, {"own.py": b""}, name="offline-eval", version="0.1.0")
    config = tmp_path / "own.yaml"
    config.write_text("name: own\n")
    return Wanted(models=("tiny",), configs=(config,), test_sets=(sets,), wheels=wheels)


@pytest.fixture
def bundle(tmp_path: Path, wanted: Wanted) -> Path:
    create_bundle(wanted, tmp_path / "b.tar")
    return tmp_path / "b.tar"


def altered(bundle: Path, alter: Alter) -> Path:
    """The bundle with its members changed and written again."""
    with tarfile.open(bundle) as tar:
        members = [(member, (tar.extractfile(member) or io.BytesIO()).read()) for member in tar.getmembers()]
    out = bundle.with_name("altered.tar")
    with tarfile.open(out, "w:") as tar:
        for member, data in alter(members):
            tar.addfile(member, io.BytesIO(data) if member.isreg() else None)
    return out


def member(name: str, data: bytes = b"", **fields: object) -> tuple[tarfile.TarInfo, bytes]:
    info = tarfile.TarInfo(name)
    info.size = len(data)
    for field, value in fields.items():
        setattr(info, field, value)
    return info, data


def test_the_same_files_give_the_same_bytes(tmp_path: Path, wanted: Wanted, bundle: Path) -> None:
    create_bundle(wanted, tmp_path / "again.tar")
    assert (tmp_path / "again.tar").read_bytes() == bundle.read_bytes()


def test_a_bundle_arrives_whole_on_the_far_side(
    tmp_path: Path, bundle: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    near = find_installed("tiny")
    monkeypatch.setenv("OFFLINE_EVAL_HOME", str(tmp_path / "far"))
    placed = install_bundle(bundle, tmp_path / "into")
    far = find_installed("tiny")
    assert near is not None
    assert far is not None
    assert far.folder == tmp_path / "far" / "models" / "tiny"
    assert far.files == near.files
    assert far.weights_hash == near.weights_hash
    assert verify("tiny") == []
    assert (tmp_path / "into/test-sets/差旅/cases.jsonl").read_text("utf-8").startswith('{"id": "a"')
    assert (tmp_path / "into/test-sets/差旅/deep/空.txt").read_bytes() == b""
    assert (tmp_path / "into/configs/own.yaml").is_file()
    requirements = (tmp_path / "into/wheels/requirements.txt").read_text()
    assert [line.split()[0] for line in requirements.splitlines()] == ["offline-eval==0.1.0", "tiny-model==1.2"]
    assert sorted(placed.folders) == ["configs", "test-sets", "wheels"]
    assert not list(tmp_path.glob(".unpacking-*"))


def test_the_same_model_is_not_installed_twice_and_another_one_is_not_replaced(tmp_path: Path, bundle: Path) -> None:
    said: list[str] = []
    install_bundle(bundle, tmp_path / "one", announce=said.append)
    assert said == ["tiny is installed already and intact"]
    folder = find_installed("tiny")
    assert folder is not None
    (folder.folder / "tokenizer.json").write_text('{"other": 1}')
    with pytest.raises(ModelError, match="already installed"):
        install_bundle(bundle, tmp_path / "two")
    assert not (tmp_path / "two").exists()


def test_every_altered_missing_added_or_moved_file_is_named(bundle: Path) -> None:
    with tarfile.open(bundle) as tar:
        names = tar.getnames()
    for at in range(1, len(names)):
        changes: dict[str, Alter] = {
            "altered|says": lambda all, at=at: [*all[:at], _flipped(all[at]), *all[at + 1 :]],
            "missing": lambda all, at=at: [*all[:at], *all[at + 1 :]],
            "extra": lambda all, at=at: [*all[: at + 1], all[at], *all[at + 1 :]],
        }
        for fault, change in changes.items():
            with pytest.raises(DataError, match=fault) as refused:
                check_archive(altered(bundle, change))
            assert repr(names[at]) in str(refused.value)


def _flipped(pair: tuple[tarfile.TarInfo, bytes]) -> tuple[tarfile.TarInfo, bytes]:
    info, data = pair
    if not data:  # an empty file can only grow
        info.size, data = 1, b"!"
        return info, data
    return info, bytes([data[0] ^ 1]) + data[1:]


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (member("models/tiny/extra.json", b"{}"), "'models/tiny/extra.json' is extra"),
        (member("../outside.txt", b"x"), "'../outside.txt' is extra"),
        (member("/etc/passwd", b"x"), "is extra"),
        (member("link", type=tarfile.SYMTYPE, linkname="/etc/passwd"), "'link' is extra"),
        (member("device", type=tarfile.CHRTYPE), "'device' is extra"),
    ],
)
def test_what_the_manifest_does_not_name_is_refused(
    bundle: Path, tmp_path: Path, bad: tuple[tarfile.TarInfo, bytes], message: str
) -> None:
    path = altered(bundle, lambda all: [*all, bad])
    with pytest.raises(DataError, match=message):
        check_archive(path, into=tmp_path / "into")
    assert not (tmp_path / "outside.txt").exists()


@pytest.mark.parametrize("type", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE, tarfile.DIRTYPE])
def test_a_link_or_device_in_the_place_of_a_file_is_refused(bundle: Path, tmp_path: Path, type: bytes) -> None:
    def alter(all: list[tuple[tarfile.TarInfo, bytes]]) -> list[tuple[tarfile.TarInfo, bytes]]:
        return [all[0], member(all[1][0].name, type=type, linkname="MANIFEST.json"), *all[2:]]

    with pytest.raises(DataError, match="plain files only"):
        check_archive(altered(bundle, alter), into=tmp_path / "into")


@pytest.mark.parametrize(
    "path",
    [
        *("../a", "models/../../a", "/etc/passwd", "models//a/b", "models/a/./b", "configs\\a", "a/b", "models/a", ""),
        *("models/-x/a", "models/a b/c", "wheels", "configs/\x00", "configs/\u202egnp.exe", "configs/\ud800"),
        *("configs/" + "a" * 256, "configs/" + "长" * 86, "configs/" + "a/" * 20 + "b", "MANIFEST.json"),
    ],
)
def test_a_path_that_could_do_harm_has_a_fault(path: str) -> None:
    assert path_fault(path)


@pytest.mark.parametrize("path", ["INSTALL.txt", "models/a.b-1/x/y.json", "test-sets/差旅/用例.jsonl", "wheels/a.whl"])
def test_an_ordinary_path_has_none(path: str) -> None:
    assert path_fault(path) is None


def manifest_altered(bundle: Path, old: bytes, new: bytes) -> Path:
    def alter(all: list[tuple[tarfile.TarInfo, bytes]]) -> list[tuple[tarfile.TarInfo, bytes]]:
        data = all[0][1].replace(old, new, 1)
        assert data != all[0][1]
        return [member("MANIFEST.json", data), *all[1:]]

    return altered(bundle, alter)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (b'"path":', b'"path":"../../x","p":', "could lead outside"),
        (b'"size": ', b'"size": 99999999999', "promises"),
        (b'"format": 1', b'"format": 2', "format"),
        (b'"INSTALL.txt"', b'"wheels/tiny_model-1.2-py3-none-any.whl/x"', "sorted by path"),
    ],
)
def test_a_manifest_that_promises_too_much_is_refused(bundle: Path, old: bytes, new: bytes, message: str) -> None:
    with pytest.raises(DataError, match=message):
        check_archive(manifest_altered(bundle, old, new))


def test_a_header_that_declares_gigabytes_is_not_read_into_memory(bundle: Path, tmp_path: Path) -> None:
    data = bundle.read_bytes()
    bomb = tarfile.TarInfo("x")
    bomb.type, bomb.size = tarfile.XHDTYPE, 8 << 30
    path = tmp_path / "bomb.tar"
    with path.open("wb") as stream:
        stream.write(data[:512] + data[512 : 512 * 8])
    size = path.stat().st_size
    with path.open("r+b") as stream:
        stream.seek(0)
        stream.write(bomb.tobuf(tarfile.GNU_FORMAT))
        stream.truncate(max(size, 9 << 30))  # sparse: takes no room on the disk
    with pytest.raises(DataError, match=r"no bundle|damaged"):
        check_archive(path)
    path.unlink()


def test_a_sparse_file_that_grows_while_it_is_unpacked_is_refused(bundle: Path, tmp_path: Path) -> None:
    def alter(all: list[tuple[tarfile.TarInfo, bytes]]) -> list[tuple[tarfile.TarInfo, bytes]]:
        info, data = all[1]
        info.pax_headers = {"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.realsize": str(1 << 40)}
        return [all[0], (info, data), *all[2:]]

    with pytest.raises(DataError):
        check_archive(altered(bundle, alter), into=tmp_path / "into")
    assert sum(path.stat().st_size for path in (tmp_path / "into").rglob("*") if path.is_file()) == 0


def test_a_bundle_cut_anywhere_and_one_with_a_tail_are_refused(bundle: Path, tmp_path: Path) -> None:
    data = bundle.read_bytes()
    path = tmp_path / "cut.tar"
    for size in [*range(0, len(data), 997), 512]:
        path.write_bytes(data[:size])
        if size > len(data) - tarfile.RECORDSIZE and not any(data[size:]):
            continue  # only the zeros that fill the last record are gone
        with pytest.raises(DataError):
            check_archive(path)
    path.write_bytes(data + b"\x00" * tarfile.RECORDSIZE + b"x")
    with pytest.raises(DataError, match="after the last file"):
        check_archive(path)


def test_a_signature_fits_only_its_key_and_its_bundle(tmp_path: Path, wanted: Wanted) -> None:
    key, other = tmp_path / "key", tmp_path / "other"
    key.write_bytes(bytes(range(32)))
    other.write_bytes(bytes(32))
    out = tmp_path / "signed.tar"
    create_bundle(wanted, out, key_file=key)
    verify_bundle(out, key_file=key)
    with pytest.raises(DataError, match="does not fit"):
        verify_bundle(out, key_file=other)
    signature = out.with_name("signed.tar.sig")
    signature.rename(tmp_path / "elsewhere")
    with pytest.raises(DataError, match="carry it beside"):
        install_bundle(out, tmp_path / "into", key_file=key)
    less = wanted.model_copy(update={"models": ()})
    create_bundle(less, tmp_path / "less.tar")
    (tmp_path / "elsewhere").rename(tmp_path / "less.tar.sig")
    with pytest.raises(DataError, match="does not fit"):
        verify_bundle(tmp_path / "less.tar", key_file=key)


def test_a_signature_is_the_standard_one(tmp_path: Path) -> None:
    # printf 'offline-eval bundle\0hello' | openssl dgst -sha256 -hmac 00000000000000000000000000000000
    import hashlib
    import hmac

    from offline_eval.models.signature import check_signature, sign

    path = tmp_path / "s"
    sign(b"hello", b"0" * 32, path)
    mac = hmac.new(b"0" * 32, b"offline-eval bundle\x00hello", hashlib.sha256).hexdigest()
    assert path.read_text() == f"hmac-sha256 {mac}\n"
    check_signature(b"hello", b"0" * 32, path)


@pytest.mark.parametrize("size", [0, 31, 4097])
def test_a_key_of_another_length_is_refused(tmp_path: Path, wanted: Wanted, size: int) -> None:
    (tmp_path / "key").write_bytes(bytes(size))
    with pytest.raises(UsageError, match="32 to 4,096 bytes"):
        create_bundle(wanted, tmp_path / "x.tar", key_file=tmp_path / "key")


def test_what_cannot_be_packed_is_said_and_leaves_nothing(tmp_path: Path, wanted: Wanted) -> None:
    out = tmp_path / "x.tar"
    (tmp_path / "差旅" / "link").symlink_to("/etc/passwd")
    for change, error, message in [
        ({}, DataError, "link"),
        ({"test_sets": (tmp_path / "nowhere",)}, UsageError, "no such file"),
        ({"configs": (tmp_path / "wheels",)}, UsageError, "YAML"),
        ({"lock": tmp_path / "lock"}, UsageError, "one source of wheels"),
        ({"wheels": tmp_path, "test_sets": ()}, UsageError, "no wheels"),
    ]:
        with pytest.raises(error, match=message):
            create_bundle(wanted.model_copy(update=change), out)
    with pytest.raises(UsageError, match="nothing to pack"):
        create_bundle(Wanted(), out)
    assert not list(tmp_path.glob("x.tar*"))


def test_two_wheels_of_one_package_are_refused(tmp_path: Path, wanted: Wanted) -> None:
    write_wheel(tmp_path / "wheels", {}, version="1.3")
    with pytest.raises(DataError, match="second wheel of tiny-model"):
        create_bundle(wanted, tmp_path / "x.tar")


def test_a_model_with_code_in_it_is_not_installed(
    tmp_path: Path, wanted: Wanted, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = find_installed("tiny")
    assert model is not None
    evil = write_model(tmp_path / "evil", auto_map={"AutoModel": "x.Y"})
    (evil / "x.py").write_text("raise SystemExit")
    monkeypatch.setattr(
        "offline_eval.models.bundle.require_installed", lambda name: model.__class__(
            config=model.config, folder=evil, files=dict.fromkeys(path.name for path in evil.iterdir()),  # type: ignore[arg-type]
            weights_hash="", tokenizer_hash="", template_hash="",
        ),
    )  # fmt: skip
    (evil / "model.json").write_bytes((model.folder / "model.json").read_bytes())
    create_bundle(wanted, tmp_path / "evil.tar")
    monkeypatch.setenv("OFFLINE_EVAL_HOME", str(tmp_path / "far"))
    with pytest.raises(ModelError, match="is code"):
        install_bundle(tmp_path / "evil.tar", tmp_path / "into")
    assert find_installed("tiny") is None
    assert not (tmp_path / "into").exists()


def test_wheels_for_another_machine_are_refused(tmp_path: Path, bundle: Path) -> None:
    path = manifest_altered(bundle, b'"python": "3.', b'"python": "2.')
    with pytest.raises(DataError, match="the wheels are for Python 2"):
        install_bundle(path, tmp_path / "into", venv=tmp_path / "venv")


def test_a_folder_in_use_is_refused_before_anything_is_unpacked(tmp_path: Path, bundle: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("mine")
    with pytest.raises(UsageError, match="not an empty folder"):
        install_bundle(bundle, tmp_path / "full")
    with pytest.raises(UsageError, match="exists"):
        install_bundle(bundle, tmp_path / "into", venv=tmp_path / "full")
    assert (tmp_path / "full" / "mine.txt").read_text() == "mine"

"""What a file's name alone decides, so that it need not be opened: binaries by suffix, secrets by name."""

from __future__ import annotations

from indexer.files import Reason
from indexer.scan.secrets import SECRET_NAMES, SECRET_SUFFIXES, is_secret_name

# The homes of version control, and our own: never entered, whatever a rule or a tracked file says.
NEVER_ENTERED = frozenset({b".git", b".hg", b".svn", b".indexer"})

# Suffixes of formats that are binary always. Those that are sometimes text (.bin .dat .db .obj .key .plist ...) are
# left to the content rule; .mo is a message catalogue in an LC_MESSAGES folder, and Modelica source elsewhere.
_BINARY = """
    png jpg jpeg jpe gif bmp ico icns tif tiff webp avif heic heif psd xcf jp2 jxl dds tga exr cr2 nef
    mp3 m4a aac ogg oga opus flac wav wma aif aiff mp4 m4v mov avi mkv webm wmv flv mpg mpeg 3gp ogv
    ttf otf ttc woff woff2 eot pfb
    zip gz tgz bz2 tbz2 xz txz lzma lz4 zst tzst 7z rar tar jar war ear apk aab ipa deb rpm dmg iso whl egg crx xpi
    nupkg gem cab msi cpio
    pyc pyo pyd so dylib dll exe o a ko class dex wasm nib gmo beam pdb ilk gch rlib rmeta
    pdf doc docx xls xlsx ppt pptx odt ods odp epub mobi djvu npy npz pkl pickle parquet feather avro h5 hdf5 rds rda
    rdata onnx pt pth ckpt safetensors tflite gguf sqlite sqlite3 mdb accdb fbx blend glb stl 3ds swf
    jks keystore p12 pfx
"""
BINARY_SUFFIXES = frozenset(_BINARY.split())

# The lower-cased last dotted part of a name (the whole name without a dot) for which `reason_by_name` has to be asked;
# so the walk pays one look-up for an ordinary file. Names that begin with a dot are always asked.
TO_JUDGE = frozenset(word.encode() for word in (*BINARY_SUFFIXES, "mo", *SECRET_SUFFIXES, *SECRET_NAMES))


def reason_by_name(path: str, *, secrets: bool) -> str:
    """Return why the name alone leaves a file out, as a word of `Reason`; empty when it does not."""
    if secrets and is_secret_name(path):
        return Reason.SECRET
    stem, dot, suffix = path[path.rfind("/") + 1 :].rpartition(".")
    suffix = suffix.lower()
    binary = suffix in BINARY_SUFFIXES or (suffix == "mo" and "/LC_MESSAGES/" in f"/{path}")
    return Reason.BINARY if stem and dot and binary else ""

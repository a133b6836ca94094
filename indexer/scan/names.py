"""What a file's name alone decides, so that it need not be opened: binaries by suffix, secrets by name."""

from __future__ import annotations

from indexer.scan.secrets import SECRET_NAMES, SECRET_SUFFIXES, is_secret_name
from indexer.types import Reason

# The homes of version control, and our own: never entered, whatever a rule or a tracked file says.
NEVER_ENTERED = frozenset({b".git", b".hg", b".svn", b".indexer"})

# Suffixes of formats that are binary always. Formats that are sometimes text (.bin, .dat, .ts, .db, .plist, .key)
# are left to the content rule.
_BINARY = (
    # images, sound, video, fonts
    "png jpg jpeg jpe gif bmp ico icns tif tiff webp avif heic heif psd xcf jp2 jxl dds tga exr hdr raw cr2 nef "
    "mp3 m4a aac ogg oga opus flac wav wma aif aiff mid mp4 m4v mov avi mkv webm wmv flv mpg mpeg 3gp ogv "
    "ttf otf ttc woff woff2 eot pfb pcf "
    # archives and packages
    "zip gz tgz bz2 tbz2 xz txz lz lzma lz4 zst tzst br 7z rar tar jar war ear apk aab ipa deb rpm dmg iso img "
    "whl egg crx xpi nupkg gem cab msi cpio "
    # compiled code and machine files
    "pyc pyo pyd so dylib dll exe o a obj lib ko elf class dex wasm nib mo gmo beam hi pdb ilk pch gch idx rlib rmeta "
    # documents and data
    "pdf doc docx xls xlsx ppt pptx odt ods odp epub mobi djvu npy npz pkl pickle parquet feather arrow orc avro h5 "
    "hdf5 mat rds rda rdata onnx pt pth ckpt safetensors tflite gguf sqlite sqlite3 mdb accdb fbx blend glb stl 3ds "
    "swf jks keystore p12 pfx"
).split()
BINARY_SUFFIXES = frozenset(_BINARY)

# The lower-cased last dotted part of a name (the whole name without a dot) for which `reason_by_name` has to be asked;
# so the walk pays one look-up for an ordinary file. Names that begin with a dot are always asked.
TO_JUDGE = frozenset(word.encode() for word in (*_BINARY, *SECRET_SUFFIXES, *SECRET_NAMES))


def reason_by_name(path: str, *, secrets: bool) -> str:
    """Return why the name alone leaves a file out, as a word of `Reason`; empty when it does not."""
    if secrets and is_secret_name(path):
        return Reason.SECRET
    stem, dot, suffix = path[path.rfind("/") + 1 :].rpartition(".")
    return Reason.BINARY if stem and dot and suffix.lower() in BINARY_SUFFIXES else ""

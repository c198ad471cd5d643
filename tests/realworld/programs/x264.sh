# SPDX-License-Identifier: Apache-2.0
# x264 (C): the encoder with threads for frames, slices, lookahead and input. Its library is linked
# statically, so that both are one whole, and has no assembly, so that the compiler sees all code.

# Nothing beyond what `run` itself needs.
rw_packages() {
    :
}

rw_source() {
    echo x264
}

# build_x264 OPTION...: the program alone, and none of the libraries that configure would look for.
build_x264() {
    cd x264 || exit
    ./configure --disable-asm --disable-opencl --disable-bashcompletion --disable-avs \
        --disable-swscale --disable-lavf --disable-ffms --disable-gpac --disable-lsmash "$@"
    make -j2
}

rw_build() {
    build_x264
}

# Half of the code: the encoder is compiled once for 8 bits and once for 10.
rw_build_bench() {
    build_x264 --bit-depth=8
}

# make_video WIDTH HEIGHT FRAMES: raw I420 to standard output. A textured plane moves one way, a box
# cut out of it the other way; there is a little noise, and another scene for the last third.
make_video() {
    python3 - "$@" <<'END'
import math
import random
import sys

width, height, frames = map(int, sys.argv[1:])
generator = random.Random("video")


def texture(w, h, bend):
    return [
        bytes(
            int(118 + 60 * math.sin(x / 13 + y / 29) + 40 * math.sin(x * y / bend))
            for x in range(2 * w)
        )
        for y in range(2 * h)
    ]


def noise(size):
    return generator.getrandbits(8 * size) & int.from_bytes(b"\x07" * size, "big")


def plane(rows, w, h, n):
    x, y = n * 3 // 2 % w, n % h
    box_x, box_y = (5 * w // 8 - 2 * n) % (5 * w // 8), (h // 4 + n) % (5 * h // 8)
    picture = bytearray(b"".join(row[x : x + w] for row in rows[y : y + h]))
    for i in range(3 * h // 8):
        start = (box_y + i) * w + box_x
        picture[start : start + 3 * w // 8] = rows[2 * i][w : w + 3 * w // 8]
    return (int.from_bytes(picture, "big") + noise(w * h)).to_bytes(w * h, "big")


for frame in range(frames):
    if frame in (0, frames * 2 // 3):
        bend = 1500 - 1000 * (frame > 0)
        luma, chroma = (texture(width // i, height // i, bend) for i in (1, 2))
    sys.stdout.buffer.write(plane(luma, width, height, frame))
    for _ in range(2):
        sys.stdout.buffer.write(plane(chroma, width // 2, height // 2, frame // 2))
END
}

# check_stream STREAM PICTURES BYTES: the stream must have an access unit for every frame of the
# video, and the encoder's own pictures, with BYTES to a sample, must look like the video.
check_stream() {
    python3 - "$RW_TMP/video" "$((width * height * 3 / 2))" "$@" <<'END'
import array
import math
import pathlib
import sys

video, stream, pictures = (pathlib.Path(sys.argv[i]).read_bytes() for i in (1, 3, 4))
frames, sample = len(video) // int(sys.argv[2]), int(sys.argv[5])
# A delimiter begins every access unit, since --aud asks for it.
units = stream.count(b"\0\0\0\1\x09")
if units != frames:
    sys.exit(f"{units} access units for {frames} frames")
samples = array.array("BH"[sample - 1], pictures)
if len(samples) != len(video):
    sys.exit(f"{len(samples)} samples for {len(video)}")
# Samples of two bytes have ten bits, so that each step of the video is four of theirs.
scale = 4 if sample == 2 else 1
error = sum((a - b * scale) ** 2 for a, b in zip(samples, video)) / len(video) / scale**2
ratio = 10 * math.log10(255**2 / max(error, 1e-9))
print(f"{len(stream)} bytes, {ratio:.2f} dB")
if ratio < 34:
    sys.exit("the pictures are too unlike the video")
END
}

# encode NAME OPTION...: writes the stream NAME.264 and the pictures NAME.yuv.
encode() {
    x264/x264 --quiet --no-progress --input-res "${width}x$height" --fps 25 --aud \
        --dump-yuv "$1.yuv" --output "$1.264" "${@:2}" "$RW_TMP/video"
}

# check_encode BYTES OPTION...: two runs must give the same, whenever the threads get to run.
check_encode() {
    local out=$RW_TMP/out
    echo "${*:2}"
    encode "$out-1" "${@:2}"
    encode "$out-2" "${@:2}"
    cmp "$out-1.264" "$out-2.264" || rw_fail "two runs gave two streams"
    cmp "$out-1.yuv" "$out-2.yuv" || rw_fail "two runs gave different pictures"
    check_stream "$out-1.264" "$out-1.yuv" "$1"
}

# check_rate OPTION...: one run under a buffer's limit. Threads then guess at the size of each
# other's frames from a variable that no lock guards, so that no two streams need be the same.
check_rate() {
    echo "$rate kbit/s, $*"
    encode "$RW_TMP/out" --bitrate "$rate" --vbv-maxrate "$rate" --vbv-bufsize "$rate" "$@"
    check_stream "$RW_TMP/out.264" "$RW_TMP/out.yuv" 1
}

rw_test() {
    local width height rate threads preset
    width=$(rw_scaled 352 176) height=$(rw_scaled 288 144) rate=$(rw_scaled 600 200)
    make_video "$width" "$height" "$(rw_scaled 24 9)" >"$RW_TMP/video"
    for preset in ultrafast veryfast medium; do
        check_encode 1 --preset "$preset" --threads 1
        for threads in 2 4; do
            check_encode 1 --preset "$preset" --threads "$threads"
            check_encode 1 --preset "$preset" --threads "$threads" --sliced-threads
            check_rate --preset "$preset" --threads "$threads"
            check_rate --preset "$preset" --threads "$threads" --sliced-threads
        done
    done
    check_encode 1 --preset fast --threads 3 --lookahead-threads 2 --rc-lookahead 4
    check_encode 1 --preset fast --threads 2 --tff --no-cabac
    check_encode 2 --preset fast --threads 2 --output-depth 10
}

# print_encode OPTION...: the command line. With a short lookahead, that and the encoding overlap.
print_encode() {
    local width height
    width=$(rw_scaled 352 176) height=$(rw_scaled 288 144)
    make_video "$width" "$height" "$(rw_scaled 64 18)" >"$RW_TMP/video"
    rw_command "$RW_DIR/x264/x264" --quiet --no-progress --threads 2 --rc-lookahead 5 "$@" \
        --input-res "${width}x$height" --fps 25 --output /dev/null "$RW_TMP/video"
}

rw_bench() {
    print_encode
}

# With the limit of check_rate, for the race that this brings.
rw_load() {
    local rate
    rate=$(rw_scaled 300 100)
    print_encode --bitrate "$rate" --vbv-maxrate "$rate" --vbv-bufsize "$rate"
}

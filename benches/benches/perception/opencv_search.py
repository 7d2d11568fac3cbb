"""Milliseconds of OpenCV's matchTemplate (TM_SQDIFF) on one thread, and its best position.

Usage: opencv_search.py FOLDER ROUNDS. The folder has frame.gray (1920 x 1080) and template.gray (32 x 32).
Needs the package opencv-python-headless.
"""

import pathlib
import statistics
import sys
import time

import cv2
import numpy

cv2.setNumThreads(1)
folder = pathlib.Path(sys.argv[1])
frame = numpy.fromfile(folder / "frame.gray", numpy.uint8).reshape(1080, 1920)
template = numpy.fromfile(folder / "template.gray", numpy.uint8).reshape(32, 32)
times = []
for _ in range(int(sys.argv[2])):
    start = time.thread_time()
    scores = cv2.matchTemplate(frame, template, cv2.TM_SQDIFF)
    times.append((time.thread_time() - start) * 1e3)
_, _, (x, y), _ = cv2.minMaxLoc(scores)
print(statistics.median(times), x, y)
